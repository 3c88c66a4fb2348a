// SPDX-License-Identifier: Apache-2.0

extension TLSConnection {
    /// The server name that the client asked for (SNI), in lower case; nil when it named none. Good after the handshake.
    package var serverName: String? { nil }

    /// The client's certificate; nil when it showed none. Good after the handshake.
    package var clientCertificate: ClientCertificate? { nil }
}

extension TLSContext {
    /// As `init(certificateChainFile:privateKeyFile:)`, and asks clients for a certificate, which they need not have.
    ///
    /// A client whose certificate is not to be believed is let in all the same, with the verdict `refused`, so that the
    /// server can tell it why.
    package convenience init(
        certificateChainFile: String, privateKeyFile: String, clientAuthorities: ClientAuthorities
    ) throws(TLSError) { preconditionFailure("unwritten") }
}

extension CertificateAuthority {
    /// A client certificate that was just made.
    package struct IssuedClientCertificate: Sendable {
        /// PEM.
        package var certificate: [UInt8]
        /// PKCS#8 PEM.
        package var privateKey: [UInt8]
        /// SHA-256 of the certificate in DER, 32 bytes.
        package var fingerprint: [UInt8]
        /// The serial number in upper-case hexadecimal digits.
        package var serialNumber: String
        /// Until when it is valid, UNIX seconds.
        package var expiresUnixSeconds: Int64
    }

    /// Makes a client certificate (P-256, clientAuth).
    ///
    /// - Parameters:
    ///   - subject: Attributes in their order, by OpenSSL's short names, for example `("UID", "com.example.MyApp")`.
    ///   - extensions: Object identifier in dots, and the DER that goes into the OCTET STRING; none is critical.
    ///   - days: From now; never longer than the authority.
    ///   - authorityCertificate: PEM, from `make`.
    ///   - authorityPrivateKey: PEM, from `make`.
    package static func issueClientCertificate(
        subject: [(name: String, value: String)], extensions: [(identifier: String, content: [UInt8])], days: Int,
        authorityCertificate: [UInt8], authorityPrivateKey: [UInt8]
    ) throws(TLSError) -> IssuedClientCertificate { preconditionFailure("unwritten") }
}

/// PKCS#12 files, as many APNs libraries want certificate and key.
package enum PKCS12 {
    /// Joins certificate, key and authority in one file that a password protects (AES-256, PBKDF2).
    package static func make(
        certificate: [UInt8], privateKey: [UInt8], authority: [UInt8]?, friendlyName: String, password: String
    ) throws(TLSError) -> [UInt8] { preconditionFailure("unwritten") }
}
