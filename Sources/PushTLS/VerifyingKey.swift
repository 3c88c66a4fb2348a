// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A P-256 public key that verifies provider tokens.
// Safety: the key never changes after `init`, and OpenSSL only reads it to verify.
package final class VerifyingKey: @unchecked Sendable {
    /// The digest that was signed.
    package enum Digest: Sendable {
        /// SHA-256, as ES256 says.
        case sha256
        /// SHA-512, as ES512 says; with a P-256 key all the same.
        case sha512
    }

    private let key: Handle<KeyKind>

    /// SubjectPublicKeyInfo in DER.
    ///
    /// - Parameter der: In the one form that `openssl pkey -pubout -outform DER` gives by default.
    /// - Throws: `TLSError.library` when it is not a key of P-256.
    package init(der: [UInt8]) throws(TLSError) {
        let purpose = "reading a public key"
        key = try Handle(purpose) {
            unsafe der.withUnsafeBufferPointer { der in
                var next = der.baseAddress
                return unsafe d2i_PUBKEY(nil, &next, der.count)
            }
        }
        try EllipticKey.requireP256(key, during: purpose)
        // OpenSSL overlooks bytes that follow and unused bits, and writes a hybrid point as it came.
        let rewritten = unsafe EllipticSignature.encoded { unsafe i2d_PUBKEY(key.pointer, $0) }
        guard rewritten == der, der.dropLast(2 * EllipticSignature.numberByteCount).last == 4 else {
            throw .library(during: purpose, text: "the key is not in its one DER form, with an uncompressed point")
        }
    }

    /// Whether this key made the signature.
    ///
    /// It costs about 65 microseconds.
    ///
    /// - Parameters:
    ///   - signature: Raw R‖S (64 bytes; 132 with SHA-512, as one client pads it) or ASN.1 DER.
    ///   - message: What was signed, not hashed.
    ///   - digest: Comes from the key's record or a fixed rule, never only from what the peer says.
    /// - Returns: False for a signature in a wrong form too.
    package func verifies(_ signature: Span<UInt8>, over message: Span<UInt8>, digest: Digest) -> Bool {
        let isRaw = signature.count == 64 || (signature.count == 132 && digest == .sha512)
        let der: [UInt8]? = unsafe signature.withUnsafeBufferPointer { signature in
            isRaw ? unsafe EllipticSignature.der(fromRaw: signature) : unsafe Array(signature)
        }
        guard let der, let context = try? Handle<DigestContextKind>("verifying", { unsafe EVP_MD_CTX_new() }) else {
            return false
        }
        defer { ERR_clear_error() }
        return unsafe message.withUnsafeBufferPointer { message in
            let algorithm = unsafe digest == .sha256 ? EVP_sha256() : EVP_sha512()
            return unsafe EVP_DigestVerifyInit(context.pointer, nil, algorithm, nil, key.pointer) == 1
                && EVP_DigestVerify(context.pointer, der, der.count, message.baseAddress, message.count) == 1
        }
    }
}
