// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension ClientCertificate {
    /// Reads the contents of a certificate; nil if memory ran out.
    init?(_ certificate: borrowing Handle<CertificateKind>, verdict: Verdict) {
        guard let fingerprint = unsafe CertificateFingerprint.of(certificate.pointer) else { return nil }
        self.init(
            verdict: verdict, fingerprint: fingerprint, serialNumber: certificate.serialNumber,
            subjectCommonName: certificate.subjectAttribute(NID_commonName),
            subjectUserID: certificate.subjectAttribute(NID_userId),
            subjectOrganizationalUnit: certificate.subjectAttribute(NID_organizationalUnitName),
            extensions: certificate.extensions)
    }
}

/// The SHA-256 hashes of certificates.
enum CertificateFingerprint {
    /// Returns the SHA-256 hash of an `X509 *` in DER, 32 bytes, from `X509_digest`; nil if memory ran out.
    @unsafe static func of(_ certificate: OpaquePointer) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: 32)
        let code = ErrorQueue.cleared { unsafe X509_digest(certificate, EVP_sha256(), &digest, nil) }
        return code == 1 ? digest : nil
    }
}

extension Handle where Kind == CertificateKind {
    /// Returns the SHA-256 hash of the certificate in DER, 32 bytes.
    func fingerprint() throws(TLSError) -> [UInt8] {
        guard let fingerprint = unsafe CertificateFingerprint.of(pointer) else {
            throw ErrorQueue.failure(during: "hashing a certificate")
        }
        return fingerprint
    }

    /// The serial number in upper-case hexadecimal digits, as `openssl x509 -serial` shows it.
    var serialNumber: String {
        let number = unsafe X509_get0_serialNumber(pointer)
        let bytes = unsafe UnsafeBufferPointer(
            start: ASN1_STRING_get0_data(number), count: Int(ASN1_STRING_length(number)))
        let sign = unsafe ASN1_STRING_type(number) == V_ASN1_NEG_INTEGER ? "-" : ""
        guard !bytes.isEmpty else { return "00" }
        let digits = Array("0123456789ABCDEF".utf8)
        let text = unsafe bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return sign + String(decoding: text, as: UTF8.self)
    }

    /// Returns an attribute of the subject as text; nil if it is missing, repeated or not text.
    func subjectAttribute(_ identifier: Int32) -> String? {
        let subject = unsafe X509_get_subject_name(pointer)
        let index = unsafe X509_NAME_get_index_by_NID(subject, identifier, -1)
        guard index >= 0, unsafe X509_NAME_get_index_by_NID(subject, identifier, index) < 0,
            let entry = unsafe X509_NAME_get_entry(subject, index)
        else { return nil }
        var text: UnsafeMutablePointer<UInt8>?
        let byteCount = ErrorQueue.cleared { unsafe ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry)) }
        ERR_clear_error()
        guard byteCount >= 0, let text = unsafe text else { return nil }
        // OPENSSL_free is a macro for this call.
        defer { unsafe CRYPTO_free(text, nil, 0) }
        return unsafe String(validating: UnsafeBufferPointer(start: text, count: Int(byteCount)), as: UTF8.self)
    }

    /// The extensions by object identifier in dotted form: the DER inside the OCTET STRING.
    var extensions: [String: [UInt8]] {
        var extensions: [String: [UInt8]] = [:]
        for index in 0..<max(0, unsafe X509_get_ext_count(pointer)) {
            guard let found = unsafe X509_get_ext(pointer, index),
                let identifier = unsafe Self.identifier(X509_EXTENSION_get_object(found)),
                let octets = unsafe X509_EXTENSION_get_data(found)
            else { continue }
            extensions[identifier] = unsafe Array(
                UnsafeBufferPointer(start: ASN1_STRING_get0_data(octets), count: Int(ASN1_STRING_length(octets))))
        }
        return extensions
    }

    /// Whether two extensions have the same identifier, so that two readers may interpret the certificate differently.
    ///
    /// - SeeAlso: RFC 5280, section 4.2
    var repeatsAnExtension: Bool {
        (0..<max(0, unsafe X509_get_ext_count(pointer))).contains { index in
            guard let found = unsafe X509_get_ext(pointer, index) else { return false }
            return unsafe X509_get_ext_by_OBJ(pointer, X509_EXTENSION_get_object(found), index) >= 0
        }
    }

    /// Returns an object identifier in dotted form; nil if it is longer than any that is used here.
    private static func identifier(_ object: OpaquePointer?) -> String? {
        var text = [CChar](repeating: 0, count: 80)
        let byteCount = ErrorQueue.cleared { unsafe OBJ_obj2txt(&text, Int32(text.count), object, 1) }
        guard (1..<Int32(text.count)).contains(byteCount) else { return nil }
        return String(decoding: text.prefix(Int(byteCount)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
