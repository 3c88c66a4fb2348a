// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The PKCS#12 file format, in which many APNs libraries expect a certificate and its key.
package enum PKCS12 {
    private static let purpose = "making a PKCS#12 file"
    /// The rounds of PBKDF2 and of the integrity check: each guess at the password costs about 10 milliseconds.
    private static let iterationCount: Int32 = 10_000

    /// Creates a password-protected file with a certificate, its key and its authority.
    ///
    /// The key and certificates are encrypted with AES-256-CBC under a PBKDF2 key with SHA-256; SHA-256 protects the
    /// integrity.
    ///
    /// - Parameters:
    ///   - certificate: The certificate in PEM.
    ///   - privateKey: The certificate's private key, in unencrypted PEM.
    ///   - authority: The authority's certificate in PEM, which is included; nil to include none.
    ///   - friendlyName: The name that key stores show.
    ///   - password: A non-empty password without zero bytes.
    /// - Returns: The bytes of the file in DER.
    /// - Throws: `TLSError.library` for texts that are not PEM, a key that does not match, and an invalid password.
    package static func make(
        certificate: [UInt8], privateKey: [UInt8], authority: [UInt8]?, friendlyName: String, password: String
    ) throws(TLSError) -> [UInt8] {
        guard !password.isEmpty, !password.utf8.contains(0) else {
            throw .library(during: purpose, text: "the password is empty or contains a zero byte")
        }
        let certificate = try PEM.certificate(certificate)
        let key = try PEM.privateKey(privateKey)
        let chain = try Handle<ChainKind>(purpose) { unsafe OPENSSL_sk_new_null() }
        guard let authority else { return try make(certificate, key, chain, friendlyName, password) }
        let authorityCertificate = try PEM.certificate(authority)
        guard unsafe OPENSSL_sk_push(chain.pointer, UnsafeRawPointer(authorityCertificate.pointer)) == 1 else {
            throw ErrorQueue.failure(during: purpose)
        }
        return try make(certificate, key, chain, friendlyName, password)
    }

    private static func make(
        _ certificate: borrowing Handle<CertificateKind>, _ key: borrowing Handle<KeyKind>,
        _ chain: borrowing Handle<ChainKind>, _ friendlyName: String, _ password: String
    ) throws(TLSError) -> [UInt8] {
        // PKCS12_create has no parameter for the digest of the integrity check, so the check is added afterwards.
        let container = try Handle<ContainerKind>(purpose) {
            unsafe PKCS12_create(
                password, friendlyName, key.pointer, certificate.pointer, chain.pointer, NID_aes_256_cbc,
                NID_aes_256_cbc, iterationCount, -1, 0)
        }
        try ErrorQueue.check(purpose) {
            unsafe PKCS12_set_mac(container.pointer, password, -1, nil, 0, iterationCount, EVP_sha256())
        }
        guard let bytes = unsafe EllipticSignature.encoded({ unsafe i2d_PKCS12(container.pointer, $0) }) else {
            throw ErrorQueue.failure(during: purpose)
        }
        return bytes
    }
}
