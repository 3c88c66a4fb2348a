// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A P-256 public key that verifies provider tokens.
// Safety: the key never changes after `init`, and OpenSSL only reads it to verify.
package final class VerifyingKey: @unchecked Sendable {
    /// The digest that was signed.
    package enum Digest: Sendable {
        /// SHA-256, as in ES256.
        case sha256
        /// SHA-512, as in ES512, but also used with a P-256 key.
        case sha512
    }

    private let key: Handle<KeyKind>

    /// Creates a key from SubjectPublicKeyInfo in DER.
    ///
    /// - Parameter der: The form that `openssl pkey -pubout -outform DER` writes by default; no other form is accepted.
    /// - Throws: `TLSError.library` if it is not a P-256 key.
    package init(der: [UInt8]) throws(TLSError) {
        let purpose = "reading a public key"
        key = try Handle(purpose) {
            unsafe der.withUnsafeBufferPointer { der in
                var next = der.baseAddress
                return unsafe d2i_PUBKEY(nil, &next, der.count)
            }
        }
        try EllipticKey.requireP256(key, during: purpose)
        // OpenSSL ignores trailing bytes and unused bits, and writes a hybrid point back as it was.
        let rewritten = unsafe EllipticSignature.encoded { unsafe i2d_PUBKEY(key.pointer, $0) }
        guard rewritten == der, der.dropLast(2 * EllipticSignature.numberByteCount).last == 4 else {
            throw .library(during: purpose, text: "the key is not in its one DER form, with an uncompressed point")
        }
    }

    /// Returns whether this key made the signature, at a cost of about 65 microseconds.
    ///
    /// - Parameters:
    ///   - signature: Raw R‖S (64 bytes; 132 with SHA-512, as one client pads it) or ASN.1 DER.
    ///   - message: The signed message, not its hash.
    ///   - digest: The digest from the key's record or a fixed rule, never only from the peer.
    /// - Returns: Whether the signature is valid; false also for a malformed signature.
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
