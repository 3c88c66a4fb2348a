// SPDX-License-Identifier: Apache-2.0

/// The configured certificate, and the CAs whose client certificates are accepted besides those of the server's own CA.
struct CertificateFiles: Equatable, Sendable {
    /// A certificate that an administrator configured.
    struct Configured: Equatable, Sendable {
        var certificate: String
        var privateKey: String
    }

    /// Nil if the server's own CA issued the certificate.
    var configured: Configured?
    var clientAuthorities: [String]

    init(_ configuration: ServerConfiguration) {
        if let certificate = configuration.certificateFile, let key = configuration.privateKeyFile {
            configured = Configured(certificate: certificate, privateKey: key)
        }
        clientAuthorities = configuration.clientAuthorityFiles
    }
}
