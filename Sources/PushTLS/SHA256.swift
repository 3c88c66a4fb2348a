// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// SHA-256.
package enum SHA256 {
    /// Fetched once: looking it up costs more than hashing a short text.
    // Safety: an `EVP_MD` never changes, and this one is never freed.
    private nonisolated(unsafe) static let algorithm = unsafe EVP_MD_fetch(nil, "SHA256", nil)

    /// 32 bytes.
    package static func hash(_ bytes: Span<UInt8>) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 32) { digest, initializedCount in
            let code = unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe EVP_Digest(bytes.baseAddress, bytes.count, digest.baseAddress, nil, algorithm, nil)
            }
            precondition(code == 1, "SHA-256 failed")
            initializedCount = 32
        }
    }
}
