// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A P-256 private key that signs provider tokens.
// Safety: the key never changes after `init`, and OpenSSL only reads it to sign and to write it out.
package final class PrivateKey: @unchecked Sendable {
    private let key: Handle<KeyKind>

    /// Generates a new private key.
    package init() throws(TLSError) {
        key = try EllipticKey.generate()
    }

    /// Creates a key from PKCS#8 PEM, as in a .p8 file.
    ///
    /// - Parameter pem: The unencrypted text.
    /// - Throws: `TLSError.library` if it is not a P-256 private key.
    package init(pem: [UInt8]) throws(TLSError) {
        key = try PEM.privateKey(pem)
        try EllipticKey.requireP256(key, during: "reading a private key")
    }

    /// The key in PKCS#8 PEM.
    package var pem: [UInt8] {
        guard let text = try? EllipticKey.pem(key) else {
            preconditionFailure("a valid private key could not be encoded")
        }
        return text
    }

    /// The public key as SubjectPublicKeyInfo in DER.
    package var publicKeyDER: [UInt8] {
        guard let der = unsafe EllipticSignature.encoded({ unsafe i2d_PUBKEY(key.pointer, $0) }) else {
            preconditionFailure("a valid public key could not be encoded")
        }
        return der
    }

    /// Signs a message with ECDSA and SHA-256; returns raw R‖S, 64 bytes.
    package func sign(_ message: Span<UInt8>) throws(TLSError) -> [UInt8] {
        let context = try Handle<DigestContextKind>("signing") { unsafe EVP_MD_CTX_new() }
        try ErrorQueue.check("signing") {
            unsafe EVP_DigestSignInit(context.pointer, nil, EVP_sha256(), nil, key.pointer)
        }
        // The longest DER form: two numbers of 33 bytes, each with a two-byte header, and two bytes for the sequence.
        var der = [UInt8](repeating: 0, count: 72)
        var byteCount = der.count
        try ErrorQueue.check("signing") {
            unsafe message.withUnsafeBufferPointer { message in
                unsafe EVP_DigestSign(context.pointer, &der, &byteCount, message.baseAddress, message.count)
            }
        }
        return try EllipticSignature.raw(fromDER: Array(der.prefix(byteCount)))
    }
}

/// The operations on P-256 keys, the only curve in use.
enum EllipticKey {
    /// OpenSSL's name for the curve.
    private static let groupName = "prime256v1"

    /// Generates a new key pair with `EVP_PKEY_generate`.
    static func generate() throws(TLSError) -> Handle<KeyKind> {
        let purpose = "making a private key"
        let context = try Handle<KeyContextKind>(purpose) { unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) }
        try ErrorQueue.check(purpose) { unsafe EVP_PKEY_keygen_init(context.pointer) }
        try ErrorQueue.check(purpose) { unsafe EVP_PKEY_CTX_set_group_name(context.pointer, groupName) }
        return try Handle(purpose) {
            var key: OpaquePointer?
            return unsafe EVP_PKEY_generate(context.pointer, &key) == 1 ? key : nil
        }
    }

    /// Throws unless the key is on P-256.
    static func requireP256(_ key: borrowing Handle<KeyKind>, during purpose: String) throws(TLSError) {
        var name = [CChar](repeating: 0, count: 64)
        var byteCount = 0
        let code = ErrorQueue.cleared {
            unsafe EVP_PKEY_get_group_name(key.pointer, &name, name.count, &byteCount)
        }
        ERR_clear_error()
        guard code == 1, name.prefix(byteCount).elementsEqual(groupName.utf8.map { CChar(bitPattern: $0) }) else {
            throw .library(during: purpose, text: "the key is not on the curve P-256")
        }
    }

    /// Returns a private key as PKCS#8 PEM.
    static func pem(_ key: borrowing Handle<KeyKind>) throws(TLSError) -> [UInt8] {
        return try unsafe PEM.text("writing a private key") { buffer in
            unsafe PEM_write_bio_PKCS8PrivateKey(buffer, key.pointer, nil, nil, 0, nil, nil)
        }
    }
}
