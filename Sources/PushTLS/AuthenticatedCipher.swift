// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// AES-256-GCM with a random 96-bit nonce for each text.
///
/// ```
/// nonce (12) ▏ encrypted text, as long as the text ▏ tag (16)
/// ```
/// A key may seal at most 2³² texts, because nonces are random.
///
/// - SeeAlso: NIST SP 800-38D, sections 5.2 and 8.3
package struct AuthenticatedCipher: Sendable {
    /// The number of bytes in a key.
    package static let keyByteCount = 32
    private static let nonceByteCount = 12
    private static let tagByteCount = 16

    private let key: [UInt8]

    /// Creates a cipher with a key of 32 bytes.
    ///
    /// - Parameter key: The secret key.
    /// - Throws: `TLSError.library` for a key of another length.
    package init(key: [UInt8]) throws(TLSError) {
        guard key.count == Self.keyByteCount else {
            throw .library(
                during: "initializing AES-256-GCM",
                text: "the key has \(key.count) bytes instead of \(Self.keyByteCount)")
        }
        self.key = key
    }

    /// Encrypts a text.
    ///
    /// - Parameters:
    ///   - text: The text, at most 2 GiB.
    ///   - additionalData: Bytes that are not part of the result; only a call with the same bytes opens it.
    /// - Returns: The nonce, the encrypted text and the tag.
    /// - Throws: `TLSError.library` when memory ran out.
    package func seal(_ text: [UInt8], additionalData: [UInt8]) throws(TLSError) -> [UInt8] {
        let purpose = "encrypting with AES-256-GCM"
        let nonce = SecureRandom.bytes(count: Self.nonceByteCount)
        let context = try makeContext(nonce, isEncrypting: true, purpose)
        var sealed = [UInt8](repeating: 0, count: text.count)
        var tag = [UInt8](repeating: 0, count: Self.tagByteCount)
        var restByteCount: Int32 = 0
        try ErrorQueue.check(purpose) {
            unsafe Self.update(context, additionalData, text, into: &sealed)
                && EVP_EncryptFinal_ex(context.pointer, &tag, &restByteCount) == 1 ? 1 : 0
        }
        try ErrorQueue.check(purpose) {
            unsafe EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), &tag)
        }
        return nonce + sealed + tag
    }

    /// Decrypts the result of `seal`.
    ///
    /// - Parameters:
    ///   - sealed: The result, or any other bytes.
    ///   - additionalData: The bytes that were passed to `seal`.
    /// - Returns: The text; nil if the key or the additional data is another one, or if any byte was changed.
    package func open(_ sealed: [UInt8], additionalData: [UInt8]) -> [UInt8]? {
        guard sealed.count >= Self.nonceByteCount + Self.tagByteCount else { return nil }
        let nonce = Array(sealed.prefix(Self.nonceByteCount))
        var tag = Array(sealed.suffix(Self.tagByteCount))
        let body = Array(sealed.dropFirst(nonce.count).dropLast(tag.count))
        guard let context = try? makeContext(nonce, isEncrypting: false, "decrypting with AES-256-GCM") else {
            return nil
        }
        defer { ERR_clear_error() }
        var text = [UInt8](repeating: 0, count: body.count)
        var restByteCount: Int32 = 0
        let isGenuine = ErrorQueue.cleared {
            unsafe EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1
                && Self.update(context, additionalData, body, into: &text)
                && EVP_DecryptFinal_ex(context.pointer, &tag, &restByteCount) == 1
        }
        return isGenuine ? text : nil
    }

    private func makeContext(
        _ nonce: [UInt8], isEncrypting: Bool, _ purpose: String
    ) throws(TLSError) -> Handle<CipherContextKind> {
        let cipher = try Handle<CipherKind>(purpose) { unsafe EVP_CIPHER_fetch(nil, "AES-256-GCM", nil) }
        let context = try Handle<CipherContextKind>(purpose) { unsafe EVP_CIPHER_CTX_new() }
        try ErrorQueue.check(purpose) {
            unsafe EVP_CipherInit_ex(context.pointer, cipher.pointer, nil, key, nonce, isEncrypting ? 1 : 0)
        }
        return context
    }

    /// Passes the additional data and the text to the cipher; returns whether it took all of them.
    private static func update(
        _ context: borrowing Handle<CipherContextKind>, _ additionalData: [UInt8], _ text: [UInt8],
        into result: inout [UInt8]
    ) -> Bool {
        var byteCount: Int32 = 0
        let takesData =
            unsafe additionalData.isEmpty
            || EVP_CipherUpdate(context.pointer, nil, &byteCount, additionalData, Int32(additionalData.count)) == 1
        guard takesData else { return false }
        guard !text.isEmpty else { return true }
        let code = unsafe EVP_CipherUpdate(context.pointer, &result, &byteCount, text, Int32(text.count))
        return code == 1 && Int(byteCount) == text.count
    }
}
