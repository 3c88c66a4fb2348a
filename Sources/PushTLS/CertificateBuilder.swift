// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A certificate of version 3 while it is put together, with a new serial number.
@safe struct CertificateBuilder: ~Copyable {
    /// RFC 5280, appendix A.1: `ub-common-name`.
    static let commonNameByteCountMax = 64

    private static let purpose = "making a certificate"

    /// What is being made.
    let certificate: Handle<CertificateKind>

    /// Starts a certificate for a key, valid from an hour ago, because clocks differ.
    init(key: borrowing Handle<KeyKind>, days: Int) throws(TLSError) {
        let certificate = try Handle<CertificateKind>(Self.purpose) { unsafe X509_new() }
        try ErrorQueue.check(Self.purpose) { unsafe X509_set_version(certificate.pointer, 2) }
        try ErrorQueue.check(Self.purpose) { unsafe X509_set_pubkey(certificate.pointer, key.pointer) }
        try ErrorQueue.check(Self.purpose) {
            unsafe X509_gmtime_adj(X509_getm_notBefore(certificate.pointer), -3_600) == nil ? 0 : 1
        }
        try ErrorQueue.check(Self.purpose) {
            unsafe X509_gmtime_adj(X509_getm_notAfter(certificate.pointer), days * 86_400) == nil ? 0 : 1
        }
        try Self.setSerialNumber(of: certificate)
        self.certificate = certificate
    }

    /// A positive random number of 128 bits, so that nobody can foretell what is signed.
    private static func setSerialNumber(of certificate: borrowing Handle<CertificateKind>) throws(TLSError) {
        var bytes = SecureRandom.bytes(count: 16)
        bytes[0] = bytes[0] & 0x7F | 0x40
        let number = try Handle<BigNumberKind>(Self.purpose) { unsafe BN_bin2bn(bytes, Int32(bytes.count), nil) }
        try ErrorQueue.check(Self.purpose) {
            unsafe BN_to_ASN1_INTEGER(number.pointer, X509_get_serialNumber(certificate.pointer)) == nil ? 0 : 1
        }
    }

    /// Names the owner.
    func setSubject(commonName: String) throws(TLSError) {
        let name = Array(commonName.utf8)
        try ErrorQueue.check(Self.purpose) {
            unsafe X509_NAME_add_entry_by_NID(
                X509_get_subject_name(certificate.pointer), NID_commonName, MBSTRING_UTF8, name, Int32(name.count), -1,
                0)
        }
    }

    /// Adds an attribute to the owner's name.
    ///
    /// - Parameters:
    ///   - name: OpenSSL's short name, for example `UID`.
    ///   - value: As long as X.509 allows for this attribute.
    /// - Throws: `TLSError.library` for an unknown name and for a value that X.509 does not allow.
    func addSubject(name: String, value: String) throws(TLSError) {
        let bytes = Array(value.utf8)
        try ErrorQueue.check("making a certificate's subject \(name)=\(value)") {
            unsafe X509_NAME_add_entry_by_txt(
                X509_get_subject_name(certificate.pointer), name, MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0)
        }
    }

    /// Names the signer.
    func setIssuer(sameAs authority: borrowing Handle<CertificateKind>) throws(TLSError) {
        try ErrorQueue.check(Self.purpose) {
            unsafe X509_set_issuer_name(certificate.pointer, X509_get_subject_name(authority.pointer))
        }
    }

    /// Ends the validity with the authority's, if that comes first.
    func limitValidity(to authority: borrowing Handle<CertificateKind>) throws(TLSError) {
        let end = unsafe X509_get0_notAfter(authority.pointer)
        guard unsafe ASN1_TIME_compare(end, X509_get0_notAfter(certificate.pointer)) < 0 else { return }
        try ErrorQueue.check(Self.purpose) { unsafe X509_set1_notAfter(certificate.pointer, end) }
    }

    /// Adds an extension that is written in OpenSSL's configuration syntax (x509v3_config(5)).
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

    /// Adds an extension that is not critical, by its object identifier in dots and the DER that it holds.
    func add(_ content: [UInt8], identifier: String) throws(TLSError) {
        let purpose = "making a certificate's extension \(identifier)"
        let object = try Handle<ObjectKind>(purpose) { unsafe OBJ_txt2obj(identifier, 1) }
        guard unsafe X509_get_ext_by_OBJ(certificate.pointer, object.pointer, -1) < 0 else {
            throw .library(during: purpose, text: "it is there already")
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

    /// When the validity ends, UNIX seconds.
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

    /// Signs with ECDSA and SHA-256; the last step.
    func sign(with key: borrowing Handle<KeyKind>) throws(TLSError) {
        // X509_sign answers the signature's length.
        try ErrorQueue.check(Self.purpose) {
            unsafe X509_sign(certificate.pointer, key.pointer, EVP_sha256()) > 0 ? 1 : 0
        }
    }

    /// The certificate as a PEM text.
    func pem() throws(TLSError) -> [UInt8] {
        try unsafe PEM.text("writing a certificate") { buffer in unsafe PEM_write_bio_X509(buffer, certificate.pointer)
        }
    }
}
