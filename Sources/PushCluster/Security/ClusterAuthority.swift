// SPDX-License-Identifier: Apache-2.0

package import PushTLS

/// The certificate authority of a cluster, which every node uses to issue its own certificate.
///
/// Both ends of a link verify that this authority issued the certificate of the other one. A node's name contains its
/// number, so a link to a wrong address fails.
package struct ClusterAuthority: Sendable {
    /// The domain of the nodes' names, which exist only in certificates and TLS handshakes.
    private static let domain = "node.posthorn.internal"
    /// The validity of the certificate with which a node connects, and which it renews daily.
    package static let nodeSeconds = 7 * 86_400
    /// The validity of the certificate with which a node accepts links, and which it renews only when it starts.
    package static let acceptingNodeSeconds = 400 * 86_400

    /// The certificate in PEM.
    package let certificate: [UInt8]
    /// The private key in PEM.
    package let privateKey: [UInt8]

    /// Creates an authority from the PEM texts of one that was made before.
    package init(certificate: [UInt8], privateKey: [UInt8]) {
        self.certificate = certificate
        self.privateKey = privateKey
    }

    /// Makes a new authority, which is valid for ten years.
    package static func make() throws(TLSError) -> ClusterAuthority {
        let (certificate, privateKey) = try CertificateAuthority.make(commonName: "Posthorn cluster")
        return ClusterAuthority(certificate: certificate, privateKey: privateKey)
    }

    /// Issues the certificate of a node.
    ///
    /// - Parameters:
    ///   - node: The number of the node.
    ///   - seconds: The validity from now, by default seven days.
    /// - Returns: What the node needs for its links.
    /// - Throws: `TLSError.library` if the authority's key does not belong to its certificate.
    package func issueCredentials(
        for node: NodeNumber, seconds: Int = ClusterAuthority.nodeSeconds
    ) throws(TLSError) -> PeerCredentials {
        let issued = try CertificateAuthority.issuePeerCertificate(
            name: Self.name(of: node), seconds: seconds, authorityCertificate: certificate,
            authorityPrivateKey: privateKey)
        return PeerCredentials(
            domain: Self.domain, authorities: certificate, certificate: issued.certificate,
            privateKey: issued.privateKey)
    }

    /// Returns the name of a node in certificates.
    package static func name(of node: NodeNumber) -> String { "\(node.rawValue).\(domain)" }

    /// Returns the number of the node with a name; nil for any other name.
    package static func node(named name: String) -> NodeNumber? {
        guard let number = Int(name.prefix { $0 != "." }), (0..<NodeNumber.count).contains(number) else { return nil }
        let node = NodeNumber(rawValue: number)
        return self.name(of: node) == name ? node : nil
    }
}
