// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The HMAC message authentication code.
///
/// - SeeAlso: RFC 2104
package enum HMAC {
    /// Returns the HMAC-SHA256 of a message, 32 bytes, from `EVP_Q_mac`.
    ///
    /// - Parameters:
    ///   - message: The message to authenticate.
    ///   - key: A key of any length, but not empty.
    /// - Returns: The message authentication code.
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
