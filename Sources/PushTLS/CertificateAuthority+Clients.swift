// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension CertificateAuthority {
    /// A newly issued client certificate.
    package struct IssuedClientCertificate: Sendable {
        /// The certificate in PEM.
        package var certificate: [UInt8]
        /// The private key in PKCS#8 PEM.
        package var privateKey: [UInt8]
        /// The SHA-256 hash of the certificate in DER, 32 bytes.
        package var fingerprint: [UInt8]
        /// The serial number in upper-case hexadecimal digits.
        package var serialNumber: String
        /// The end of the certificate's validity in UNIX seconds.
        package var expiresUnixSeconds: Int64
    }

    /// The longest validity in days; more would exceed the range that X.509 and C's `int` have for times.
    private static let clientDaysMax = 36_525
    private static let clientPurpose = "issuing a client certificate"

    /// Issues a client certificate (P-256, clientAuth).
    ///
    /// - Parameters:
    ///   - subject: The attributes in order, by OpenSSL's short names, for example `("UID", "com.example.MyApp")`.
    ///   - extensions: The object identifiers in dotted form, and the DER for the OCTET STRING; no extension is
    ///     critical.
    ///   - days: The validity from now, 1 to 36,525; never longer than the authority's.
    ///   - authorityCertificate: A PEM text from `make`.
    ///   - authorityPrivateKey: A PEM text from `make`.
    /// - Returns: The new certificate without its authority, its key, its fingerprint and its serial number.
    /// - Throws: `TLSError.library` for values that X.509 cannot hold, for a repeated extension, and for an authority
    ///   that may not sign or whose key does not match.
    package static func issueClientCertificate(
        subject: [(name: String, value: String)], extensions: [(identifier: String, content: [UInt8])], days: Int,
        authorityCertificate: [UInt8], authorityPrivateKey: [UInt8]
    ) throws(TLSError) -> IssuedClientCertificate {
        guard (1...clientDaysMax).contains(days) else {
            throw failure("\(days) days are not 1 to \(clientDaysMax)", during: clientPurpose)
        }
        let authority = try PEM.certificate(authorityCertificate)
        let authorityKey = try PEM.privateKey(authorityPrivateKey)
        try require(authority, belongsTo: authorityKey, during: clientPurpose)
        let key = try EllipticKey.generate()
        let builder = try CertificateBuilder(key: key, days: days)
        try builder.limitValidity(to: authority)
        for (name, value) in subject { try builder.addSubject(name: name, value: value) }
        try builder.setIssuer(sameAs: authority)
        try builder.add("critical,CA:FALSE", NID_basic_constraints, issuer: authority)
        try builder.add("critical,digitalSignature", NID_key_usage, issuer: authority)
        try builder.add("clientAuth", NID_ext_key_usage, issuer: authority)
        try builder.add("hash", NID_subject_key_identifier, issuer: authority)
        try builder.add("keyid:always", NID_authority_key_identifier, issuer: authority)
        for (identifier, content) in extensions { try builder.add(content, identifier: identifier) }
        try builder.sign(with: authorityKey)
        return IssuedClientCertificate(
            certificate: try builder.pem(), privateKey: try EllipticKey.pem(key),
            fingerprint: try builder.certificate.fingerprint(), serialNumber: builder.certificate.serialNumber,
            expiresUnixSeconds: try builder.expiresUnixSeconds())
    }
}
