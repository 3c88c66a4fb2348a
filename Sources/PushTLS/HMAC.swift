// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Message authentication codes.
///
/// - SeeAlso: RFC 2104
package enum HMAC {
    /// HMAC-SHA256, 32 bytes, with `EVP_Q_mac`.
    ///
    /// - Parameters:
    ///   - message: What is authenticated.
    ///   - key: Of any length, but not empty.
    /// - Returns: The code.
    package static func sha256(_ message: Span<UInt8>, key: Span<UInt8>) -> [UInt8] {
        precondition(!key.isEmpty, "a code without a key authenticates nothing")
        return unsafe [UInt8](unsafeUninitializedCapacity: 32) { code, initializedCount in
            let codeByteCount = code.count
            let end = unsafe message.withUnsafeBufferPointer { message in
                unsafe key.withUnsafeBufferPointer { key in
                    unsafe EVP_Q_mac(
                        nil, "HMAC", nil, "SHA256", nil, key.baseAddress, key.count, message.baseAddress,
                        message.count, code.baseAddress, codeByteCount, &initializedCount)
                }
            }
            precondition(unsafe end != nil && initializedCount == 32, "HMAC-SHA256 failed")
        }
    }
}
