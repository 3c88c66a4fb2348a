// SPDX-License-Identifier: Apache-2.0

/// The certificate with which a server connects to others like it, and the authority that both ends trust.
package struct PeerCredentials: Sendable {
    /// The domain of the peers' names: a client that asks for a name in it is shown this certificate.
    package var domain: String
    /// The certificates of the trusted authorities, in PEM.
    package var authorities: [UInt8]
    /// The server's certificate, in PEM.
    package var certificate: [UInt8]
    /// The private key of the certificate, in PEM.
    package var privateKey: [UInt8]

    package init(domain: String, authorities: [UInt8], certificate: [UInt8], privateKey: [UInt8]) {
        self.domain = domain
        self.authorities = authorities
        self.certificate = certificate
        self.privateKey = privateKey
    }
}
