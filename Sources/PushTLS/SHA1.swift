// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The SHA-1 hash, used only in the WebSocket handshake, where nothing depends on its strength.
package enum SHA1 {
    // Safety: an `EVP_MD` never changes, and this one is never freed.
    private nonisolated(unsafe) static let algorithm = unsafe EVP_MD_fetch(nil, "SHA1", nil)

    /// Returns the 20-byte hash of the bytes.
    package static func hash(_ bytes: Span<UInt8>) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 20) { digest, initializedCount in
            let code = unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe EVP_Digest(bytes.baseAddress, bytes.count, digest.baseAddress, nil, algorithm, nil)
            }
            precondition(code == 1, "SHA-1 failed")
            initializedCount = 20
        }
    }
}
