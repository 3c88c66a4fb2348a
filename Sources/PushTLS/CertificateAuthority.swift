// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The server's private certificate authority.
package enum CertificateAuthority {
    private static let authorityDays = 3_653
    private static let serverDays = 397
    private static let serverPurpose = "issuing a server certificate"

    /// Creates a key and a self-signed P-256 certificate with a validity of 10 years, both as PEM texts.
    ///
    /// - Parameter commonName: The authority's name, 1 to 64 bytes.
    /// - Returns: Two PEM texts.
    /// - Throws: `TLSError.library` for a name that X.509 cannot hold.
    package static func make(commonName: String) throws(TLSError) -> (certificate: [UInt8], privateKey: [UInt8]) {
        let key = try EllipticKey.generate()
        let builder = try CertificateBuilder(key: key, days: authorityDays)
        try builder.setSubject(commonName: commonName)
        try builder.setIssuer(sameAs: builder.certificate)
        try builder.add("critical,CA:TRUE,pathlen:0", NID_basic_constraints, issuer: builder.certificate)
        try builder.add("critical,keyCertSign,cRLSign", NID_key_usage, issuer: builder.certificate)
        try builder.add("hash", NID_subject_key_identifier, issuer: builder.certificate)
        try builder.add("keyid:always", NID_authority_key_identifier, issuer: builder.certificate)
        try builder.sign(with: key)
        return (try builder.pem(), try EllipticKey.pem(key))
    }

    /// Issues a server certificate (397 days, subjectAltName with DNS names and IP addresses, serverAuth) as PEM texts.
    ///
    /// - Parameters:
    ///   - names: DNS names, in ASCII (`xn--` for others), optionally with a leading `*.`, and IP addresses; at least
    ///     one.
    ///   - authorityCertificate: A PEM text from `make`.
    ///   - authorityPrivateKey: A PEM text from `make`.
    /// - Returns: The new certificate without its authority, and its key. The certificate expires no later than its
    ///   authority.
    /// - Throws: `TLSError.library` for a name that is neither, and for an authority that may not sign or whose key
    ///   does not match.
    package static func issueServerCertificate(
        names: [String], authorityCertificate: [UInt8], authorityPrivateKey: [UInt8]
    ) throws(TLSError) -> (certificate: [UInt8], privateKey: [UInt8]) {
        let alternativeNames = try names.map(AlternativeName.init)
        guard let first = names.first else { throw failure("no host name was given", during: serverPurpose) }
        let authority = try PEM.certificate(authorityCertificate)
        let authorityKey = try PEM.privateKey(authorityPrivateKey)
        try require(authority, belongsTo: authorityKey, during: serverPurpose)
        let key = try EllipticKey.generate()
        let builder = try CertificateBuilder(key: key, days: serverDays)
        try builder.limitValidity(to: authority)
        // RFC 5280, section 4.2.1.6: a certificate without a subject marks its alternative names as critical.
        let hasSubject = first.utf8.count <= CertificateBuilder.commonNameByteCountMax
        if hasSubject { try builder.setSubject(commonName: first) }
        try builder.setIssuer(sameAs: authority)
        let nameList = alternativeNames.map(\.configurationText).joined(separator: ",")
        try builder.add((hasSubject ? "" : "critical,") + nameList, NID_subject_alt_name, issuer: authority)
        try builder.add("critical,CA:FALSE", NID_basic_constraints, issuer: authority)
        try builder.add("critical,digitalSignature", NID_key_usage, issuer: authority)
        try builder.add("serverAuth", NID_ext_key_usage, issuer: authority)
        try builder.add("hash", NID_subject_key_identifier, issuer: authority)
        try builder.add("keyid:always", NID_authority_key_identifier, issuer: authority)
        try builder.sign(with: authorityKey)
        return (try builder.pem(), try EllipticKey.pem(key))
    }

    /// Returns whether `issueServerCertificate` accepts this name.
    package static func isServerName(_ name: String) -> Bool { (try? AlternativeName(name)) != nil }

    /// Returns the number of seconds until a PEM certificate expires; negative if it has expired.
    package static func secondsUntilExpiry(certificate: [UInt8]) throws(TLSError) -> Int64 {
        let certificate = try PEM.certificate(certificate)
        var days: Int32 = 0
        var seconds: Int32 = 0
        try ErrorQueue.check("reading when a certificate expires") {
            unsafe ASN1_TIME_diff(&days, &seconds, nil, X509_get0_notAfter(certificate.pointer))
        }
        return Int64(days) * 86_400 + Int64(seconds)
    }

    /// Returns the SHA-256 hash of the first certificate in a PEM text, 32 bytes, which identifies a certificate to
    /// revoke.
    package static func fingerprint(certificate: [UInt8]) throws(TLSError) -> [UInt8] {
        try PEM.certificate(certificate).fingerprint()
    }

    /// Throws unless the certificate may sign others and belongs to this key.
    static func require(
        _ certificate: borrowing Handle<CertificateKind>, belongsTo key: borrowing Handle<KeyKind>,
        during purpose: String
    ) throws(TLSError) {
        guard ErrorQueue.cleared({ unsafe X509_check_ca(certificate.pointer) }) == 1 else {
            throw failure("the authority's certificate may not sign others", during: purpose)
        }
        guard ErrorQueue.cleared({ unsafe X509_check_private_key(certificate.pointer, key.pointer) }) == 1 else {
            ERR_clear_error()
            throw failure("the authority's key does not belong to its certificate", during: purpose)
        }
    }

    static func failure(_ text: String, during purpose: String) -> TLSError { .library(during: purpose, text: text) }
}

/// A name for a server certificate, validated so that it is safe in OpenSSL's configuration syntax.
private struct AlternativeName {
    /// The name with its type, for example `DNS:push.example.org` or `IP:::1`.
    let configurationText: String

    init(_ name: String) throws(TLSError) {
        if Self.isAddress(name) {
            configurationText = "IP:\(name)"
        } else if HostName.isValid(name.utf8, allowingWildcard: true) {
            configurationText = "DNS:\(name)"
        } else {
            throw .library(
                during: "issuing a server certificate", text: "\"\(name)\" is neither a DNS name nor an IP address")
        }
    }

    private static func isAddress(_ name: String) -> Bool {
        guard name.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "f") ~= $0 || $0 == UInt8(ascii: ".") }),
            let octets = unsafe ErrorQueue.cleared({ unsafe a2i_IPADDRESS(name) })
        else {
            ERR_clear_error()
            return false
        }
        unsafe ASN1_OCTET_STRING_free(octets)
        return true
    }
}
