// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The SHA-256 hash, of whole texts and of pieces.
package enum SHA256 {
    /// The algorithm, fetched once: looking it up costs more than hashing a short text.
    // Safety: an `EVP_MD` never changes, and this one is never freed.
    private nonisolated(unsafe) static let algorithm = unsafe EVP_MD_fetch(nil, "SHA256", nil)

    /// Returns the 32-byte hash of the bytes.
    package static func hash(_ bytes: Span<UInt8>) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 32) { digest, initializedCount in
            let code = unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe EVP_Digest(bytes.baseAddress, bytes.count, digest.baseAddress, nil, algorithm, nil)
            }
            precondition(code == 1, "SHA-256 failed")
            initializedCount = 32
        }
    }

    /// A SHA-256 hash of bytes that arrive in pieces.
    ///
    /// Owns one `EVP_MD_CTX *`.
    @safe
    package struct Running: ~Copyable {
        private let context: OpaquePointer

        /// Starts an empty hash with `EVP_DigestInit_ex`.
        package init() {
            guard let made = unsafe EVP_MD_CTX_new() else { preconditionFailure("out of memory for SHA-256") }
            unsafe context = made
            let code = unsafe EVP_DigestInit_ex(context, SHA256.algorithm, nil)
            precondition(code == 1, "SHA-256 failed")
        }

        deinit { unsafe EVP_MD_CTX_free(context) }

        /// Adds the next piece to the hash.
        package mutating func add(_ bytes: Span<UInt8>) {
            let code = unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
            }
            precondition(code == 1, "SHA-256 failed")
        }

        /// Ends the hash and returns its 32 bytes.
        package consuming func finish() -> [UInt8] {
            unsafe [UInt8](unsafeUninitializedCapacity: 32) { digest, initializedCount in
                let code = unsafe EVP_DigestFinal_ex(context, digest.baseAddress, nil)
                precondition(code == 1, "SHA-256 failed")
                initializedCount = 32
            }
        }
    }
}
