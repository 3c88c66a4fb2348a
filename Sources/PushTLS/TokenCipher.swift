// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Makes and opens device tokens: AES-256-SIV over sixteen bytes.
///
/// Not Sendable: one per loop. A token is the 16 bytes of the tag (the synthetic initialisation vector) followed by the 16
/// bytes of the encrypted text, as RFC 5297 orders them. Every context is keyed once, which makes a token six times cheaper
/// than keying it each time.
///
/// - SeeAlso: RFC 5297, section 2.6
package final class TokenCipher {
    /// The first key, for sealing.
    private let sealing: KeyedContext
    /// All keys, newest first.
    private let opening: [KeyedContext]

    /// Keys of 64 bytes, newest first: the first seals, all open.
    ///
    /// - Parameter keys: At least one.
    /// - Throws: `TLSError.library` when there is no key, one is not 64 bytes long, or OpenSSL lacks AES-256-SIV.
    package init(keys: [[UInt8]]) throws(TLSError) {
        guard let first = keys.first else { throw .library(during: "keying the token cipher", text: "there is no key") }
        let cipher = try Handle<CipherKind>("finding AES-256-SIV") { unsafe EVP_CIPHER_fetch(nil, "AES-256-SIV", nil) }
        sealing = try KeyedContext(cipher, key: first, isSealing: true)
        var opening: [KeyedContext] = []
        for key in keys { opening.append(try KeyedContext(cipher, key: key, isSealing: false)) }
        self.opening = opening
    }

    /// 16 bytes in, 32 out, deterministic.
    package func seal(_ plaintext: InlineArray<16, UInt8>) -> InlineArray<32, UInt8> {
        sealing.seal(plaintext)
    }

    /// 32 bytes in; nil when no key opens it.
    package func open(_ ciphertext: InlineArray<32, UInt8>) -> InlineArray<16, UInt8>? {
        for context in opening {
            if let plaintext = context.open(ciphertext) { return plaintext }
        }
        return nil
    }
}

/// One `EVP_CIPHER_CTX *`, keyed for one direction.
@safe private final class KeyedContext {
    private static let keyByteCount = 64
    private static let blockByteCount: Int32 = 16

    private let context: Handle<CipherContextKind>

    init(_ cipher: borrowing Handle<CipherKind>, key: [UInt8], isSealing: Bool) throws(TLSError) {
        let purpose = "keying the token cipher"
        guard key.count == Self.keyByteCount else {
            throw .library(during: purpose, text: "a key has \(key.count) bytes instead of \(Self.keyByteCount)")
        }
        context = try Handle(purpose) { unsafe EVP_CIPHER_CTX_new() }
        try ErrorQueue.check(purpose) {
            unsafe EVP_CipherInit_ex(context.pointer, cipher.pointer, nil, key, nil, isSealing ? 1 : 0)
        }
    }

    /// Without associated data; a failure can only be our own fault, and a wrong token must never leave.
    func seal(_ plaintext: InlineArray<16, UInt8>) -> InlineArray<32, UInt8> {
        var token = InlineArray<32, UInt8>(repeating: 0)
        var isSealed = false
        unsafe withUnsafeMutableBytes(of: &token) { token in
            unsafe withUnsafeBytes(of: plaintext) { plaintext in
                isSealed =
                    unsafe arm() && update(plaintext.baseAddress, into: token.baseAddress.map { unsafe $0 + 16 })
                    && control(EVP_CTRL_AEAD_GET_TAG, Self.blockByteCount, token.baseAddress)
            }
        }
        guard isSealed else { preconditionFailure("AES-256-SIV failed: \(ErrorQueue.failure(during: "sealing"))") }
        return token
    }

    func open(_ token: InlineArray<32, UInt8>) -> InlineArray<16, UInt8>? {
        var token = token
        var plaintext = InlineArray<16, UInt8>(repeating: 0)
        var isOpen = false
        unsafe withUnsafeMutableBytes(of: &token) { token in
            unsafe withUnsafeMutableBytes(of: &plaintext) { plaintext in
                isOpen =
                    unsafe arm() && control(EVP_CTRL_AEAD_SET_TAG, Self.blockByteCount, token.baseAddress)
                    && update(token.baseAddress.map { unsafe UnsafeRawPointer($0 + 16) }, into: plaintext.baseAddress)
            }
        }
        guard isOpen else {
            ERR_clear_error()
            return nil
        }
        return plaintext
    }

    /// Allows the context's next operation.
    ///
    /// In OpenSSL 3.0 a SIV context works once. `EVP_CTRL_SET_SPEED` lifts that, but only by a counter that starts at -1,
    /// goes down with each operation and ends the service at 0, after 2^32 of them. So it is set again each time (28 ns).
    private func arm() -> Bool {
        unsafe control(EVP_CTRL_SET_SPEED, 1, nil)
    }

    private func control(_ command: Int32, _ number: Int32, _ data: UnsafeMutableRawPointer?) -> Bool {
        unsafe EVP_CIPHER_CTX_ctrl(context.pointer, command, number, data) == 1
    }

    /// Encrypts or decrypts one block; decrypting fails when the tag does not fit.
    private func update(_ input: UnsafeRawPointer?, into output: UnsafeMutableRawPointer?) -> Bool {
        var byteCount: Int32 = 0
        let code = unsafe EVP_CipherUpdate(
            context.pointer, output?.assumingMemoryBound(to: UInt8.self), &byteCount,
            input?.assumingMemoryBound(to: UInt8.self), Self.blockByteCount)
        return code == 1 && byteCount == Self.blockByteCount
    }
}
