// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A certificate of version 3 under construction, with a new serial number.
@safe struct CertificateBuilder: ~Copyable {
    /// The longest common name in bytes (`ub-common-name` in RFC 5280, appendix A.1).
    static let commonNameByteCountMax = 64

    private static let purpose = "making a certificate"

    /// The certificate under construction.
    let certificate: Handle<CertificateKind>

    /// Starts a certificate for a key, valid from an hour ago because clocks differ.
    init(key: borrowing Handle<KeyKind>, days: Int) throws(TLSError) { try self.init(key: key, seconds: days * 86_400) }

    /// Starts a certificate for a key, valid from an hour ago until a number of seconds from now.
    init(key: borrowing Handle<KeyKind>, seconds: Int) throws(TLSError) {
        let certificate = try Handle<CertificateKind>(Self.purpose) { unsafe X509_new() }
        try ErrorQueue.check(Self.purpose) { unsafe X509_set_version(certificate.pointer, 2) }
        try ErrorQueue.check(Self.purpose) { unsafe X509_set_pubkey(certificate.pointer, key.pointer) }
        try ErrorQueue.check(Self.purpose) {
            unsafe X509_gmtime_adj(X509_getm_notBefore(certificate.pointer), -3_600) == nil ? 0 : 1
        }
        try ErrorQueue.check(Self.purpose) {
            unsafe X509_gmtime_adj(X509_getm_notAfter(certificate.pointer), seconds) == nil ? 0 : 1
        }
        try Self.setSerialNumber(of: certificate)
        self.certificate = certificate
    }

    /// Sets a positive random serial number of 128 bits, so that the signed bytes cannot be predicted.
    private static func setSerialNumber(of certificate: borrowing Handle<CertificateKind>) throws(TLSError) {
        var bytes = SecureRandom.bytes(count: 16)
        bytes[0] = bytes[0] & 0x7F | 0x40
        let number = try Handle<BigNumberKind>(Self.purpose) { unsafe BN_bin2bn(bytes, Int32(bytes.count), nil) }
        try ErrorQueue.check(Self.purpose) {
            unsafe BN_to_ASN1_INTEGER(number.pointer, X509_get_serialNumber(certificate.pointer)) == nil ? 0 : 1
        }
    }

    /// Sets the common name of the subject.
    func setSubject(commonName: String) throws(TLSError) {
        let name = Array(commonName.utf8)
        try ErrorQueue.check(Self.purpose) {
            unsafe X509_NAME_add_entry_by_NID(
                X509_get_subject_name(certificate.pointer), NID_commonName, MBSTRING_UTF8, name, Int32(name.count), -1,
                0)
        }
    }

    /// Adds an attribute to the subject.
    ///
    /// - Parameters:
    ///   - name: OpenSSL's short name of the attribute, for example `UID`.
    ///   - value: The attribute's value, within the length that X.509 allows.
    /// - Throws: `TLSError.library` for an unknown name and for a value that X.509 does not allow.
    func addSubject(name: String, value: String) throws(TLSError) {
        let bytes = Array(value.utf8)
        try ErrorQueue.check("making a certificate's subject \(name)=\(value)") {
            unsafe X509_NAME_add_entry_by_txt(
                X509_get_subject_name(certificate.pointer), name, MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0)
        }
    }

    /// Sets the issuer to the authority's subject.
    func setIssuer(sameAs authority: borrowing Handle<CertificateKind>) throws(TLSError) {
        try ErrorQueue.check(Self.purpose) {
            unsafe X509_set_issuer_name(certificate.pointer, X509_get_subject_name(authority.pointer))
        }
    }

    /// Limits the validity to the end of the authority's, if that is earlier.
    func limitValidity(to authority: borrowing Handle<CertificateKind>) throws(TLSError) {
        let end = unsafe X509_get0_notAfter(authority.pointer)
        guard unsafe ASN1_TIME_compare(end, X509_get0_notAfter(certificate.pointer)) < 0 else { return }
        try ErrorQueue.check(Self.purpose) { unsafe X509_set1_notAfter(certificate.pointer, end) }
    }

    /// Adds an extension written in OpenSSL's configuration syntax (x509v3_config(5)).
    func add(_ value: String, _ identifier: Int32, issuer: borrowing Handle<CertificateKind>) throws(TLSError) {
        let purpose = "making a certificate's extension \(value)"
        try ErrorQueue.check(purpose) {
            var context = unsafe X509V3_CTX()
            unsafe X509V3_set_ctx(&context, issuer.pointer, certificate.pointer, nil, nil, 0)
            guard let made = unsafe X509V3_EXT_conf_nid(nil, &context, identifier, value) else { return 0 }
            defer { unsafe X509_EXTENSION_free(made) }
            return unsafe X509_add_ext(certificate.pointer, made, -1)
        }
    }

    /// Adds a non-critical extension with its object identifier in dotted form and its DER content.
    func add(_ content: [UInt8], identifier: String) throws(TLSError) {
        let purpose = "making a certificate's extension \(identifier)"
        let object = try Handle<ObjectKind>(purpose) { unsafe OBJ_txt2obj(identifier, 1) }
        guard unsafe X509_get_ext_by_OBJ(certificate.pointer, object.pointer, -1) < 0 else {
            throw .library(during: purpose, text: "the extension was added already")
        }
        try ErrorQueue.check(purpose) {
            guard let octets = unsafe ASN1_OCTET_STRING_new() else { return 0 }
            defer { unsafe ASN1_OCTET_STRING_free(octets) }
            guard unsafe ASN1_OCTET_STRING_set(octets, content, Int32(content.count)) == 1,
                let made = unsafe X509_EXTENSION_create_by_OBJ(nil, object.pointer, 0, octets)
            else { return 0 }
            defer { unsafe X509_EXTENSION_free(made) }
            return unsafe X509_add_ext(certificate.pointer, made, -1)
        }
    }

    /// Returns the end of the validity in UNIX seconds.
    func expiresUnixSeconds() throws(TLSError) -> Int64 {
        guard let epoch = unsafe ErrorQueue.cleared({ unsafe ASN1_TIME_set(nil, 0) }) else {
            throw ErrorQueue.failure(during: Self.purpose)
        }
        defer { unsafe ASN1_STRING_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        try ErrorQueue.check(Self.purpose) {
            unsafe ASN1_TIME_diff(&days, &seconds, epoch, X509_get0_notAfter(certificate.pointer))
        }
        return Int64(days) * 86_400 + Int64(seconds)
    }

    /// Signs the certificate with ECDSA and SHA-256; this is the last step.
    func sign(with key: borrowing Handle<KeyKind>) throws(TLSError) {
        // X509_sign returns the signature's length.
        try ErrorQueue.check(Self.purpose) {
            unsafe X509_sign(certificate.pointer, key.pointer, EVP_sha256()) > 0 ? 1 : 0
        }
    }

    /// Returns the certificate as a PEM text.
    func pem() throws(TLSError) -> [UInt8] {
        try unsafe PEM.text("writing a certificate") { buffer in unsafe PEM_write_bio_X509(buffer, certificate.pointer)
        }
    }
}
