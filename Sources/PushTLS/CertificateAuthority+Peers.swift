// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension CertificateAuthority {
    private static let peerPurpose = "issuing a peer certificate"

    /// Issues a certificate for both ends of connections between servers (P-256, serverAuth and clientAuth).
    ///
    /// - Parameters:
    ///   - name: The DNS name, which is also the common name.
    ///   - seconds: The validity from now, never longer than the authority's; a negative number makes an expired one.
    ///   - authorityCertificate: A PEM text from `make`.
    ///   - authorityPrivateKey: A PEM text from `make`.
    /// - Returns: The new certificate without its authority, and its key, as PEM texts.
    /// - Throws: `TLSError.library` for an invalid name, and for an authority that may not sign or whose key does not
    ///   match.
    package static func issuePeerCertificate(
        name: String, seconds: Int, authorityCertificate: [UInt8], authorityPrivateKey: [UInt8]
    ) throws(TLSError) -> (certificate: [UInt8], privateKey: [UInt8]) {
        guard HostName.isValid(name.utf8), name.utf8.count <= CertificateBuilder.commonNameByteCountMax else {
            throw failure("\"\(name)\" is not a short DNS name", during: peerPurpose)
        }
        let authority = try PEM.certificate(authorityCertificate)
        let authorityKey = try PEM.privateKey(authorityPrivateKey)
        try require(authority, belongsTo: authorityKey, during: peerPurpose)
        let key = try EllipticKey.generate()
        let builder = try CertificateBuilder(key: key, seconds: seconds)
        try builder.limitValidity(to: authority)
        try builder.setSubject(commonName: name)
        try builder.setIssuer(sameAs: authority)
        try builder.add("DNS:\(name)", NID_subject_alt_name, issuer: authority)
        try builder.add("critical,CA:FALSE", NID_basic_constraints, issuer: authority)
        try builder.add("critical,digitalSignature", NID_key_usage, issuer: authority)
        try builder.add("serverAuth,clientAuth", NID_ext_key_usage, issuer: authority)
        try builder.add("hash", NID_subject_key_identifier, issuer: authority)
        try builder.add("keyid:always", NID_authority_key_identifier, issuer: authority)
        try builder.sign(with: authorityKey)
        return (try builder.pem(), try EllipticKey.pem(key))
    }
}
