// SPDX-License-Identifier: Apache-2.0

import PushTLS
import TestSupport
import Testing

@testable import PushCluster

/// The links of nodes are tested with real connections in `NodeLinksTests`.
struct ClusterAuthorityTests {
    @Test func `a node's certificate is valid for seven days`() throws {
        let credentials = try ClusterAuthority.make().issueCredentials(for: NodeNumber(rawValue: 17))
        let seconds = try CertificateAuthority.secondsUntilExpiry(certificate: credentials.certificate)
        #expect((7 * 86_400 - 3_600...7 * 86_400).contains(seconds))
        let certificate = try AuthorityCertificate(credentials.certificate)
        #expect(certificate.subject == "CN = 17.node.posthorn.internal")
        #expect(!certificate.isAuthority)
    }

    @Test func `the authority issued the certificate, and another one did not`() throws {
        let (authority, other) = (try ClusterAuthority.make(), try ClusterAuthority.make())
        let credentials = try authority.issueCredentials(for: NodeNumber(rawValue: 1))
        for (signer, isSigner) in [(authority, true), (other, false)] {
            let certificate = try AuthorityCertificate(signer.certificate)
            #expect(try AuthorityCertificate.chain(credentials.certificate, leadsTo: certificate) == isSigner)
        }
    }

    @Test func `an authority is made again from its texts`() throws {
        let authority = try ClusterAuthority.make()
        let again = ClusterAuthority(certificate: authority.certificate, privateKey: authority.privateKey)
        let credentials = try again.issueCredentials(for: NodeNumber(rawValue: 1))
        _ = try TLSContext(connectingWith: credentials)
        let mixed = ClusterAuthority(
            certificate: authority.certificate, privateKey: try ClusterAuthority.make().privateKey)
        #expect(throws: TLSError.self) { try mixed.issueCredentials(for: NodeNumber(rawValue: 1)) }
    }

    @Test(arguments: [0, 1, 1023])
    func `a name has the node's number`(number: Int) {
        let node = NodeNumber(rawValue: number)
        #expect(ClusterAuthority.node(named: ClusterAuthority.name(of: node)) == node)
    }

    @Test(arguments: [
        "", "17", "1024.node.posthorn.internal", "-1.node.posthorn.internal", "+1.node.posthorn.internal",
        "01.node.posthorn.internal", "1.node.posthorn.internal.", "1.node.posthorn.example", "x.node.posthorn.internal",
        "99999999999999999999.node.posthorn.internal",
    ])
    func `another name has none`(name: String) { #expect(ClusterAuthority.node(named: name) == nil) }
}
