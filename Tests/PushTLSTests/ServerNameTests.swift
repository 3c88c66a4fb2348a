// SPDX-License-Identifier: Apache-2.0

@testable import PushTLS
import TestSupport
import Testing

@Suite struct ServerNameTests {
    private let certificates: TestCertificates
    private let context: TLSContext

    init() throws {
        certificates = try TestCertificates()
        context = try certificates.askingContext()
    }

    @Test(arguments: [
        ("api.sandbox.push.apple.com", "api.sandbox.push.apple.com"),
        ("API.Development.EXAMPLE.org", "api.development.example.org"), ("localhost", "localhost"),
        ("under_score.example", "under_score.example"), ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("a b", nil), ("-a.example", nil), ("a..b", nil), ("a.", "a"), (".", nil), ("*.example", nil),
        ("bücher.example", nil),
        (String(repeating: "a", count: 63) + ".b", String(repeating: "a", count: 63) + ".b"),
        (String(repeating: "a", count: 64) + ".b", nil),
    ])
    func `a server name that is a host name is reported in lower case`(asked: String, heard: String?) async throws {
        for version in ["-tls1_2", "-tls1_3"] {
            let peer = try OpenSSLPeer(context, certificates, [version], serverName: asked)
            #expect(peer.connection.tls.serverName == nil)
            try peer.connection.handshake()
            #expect(peer.connection.tls.serverName == heard)
        }
    }

    @Test func `a client that sends no server name may connect`() async throws {
        let peer = try OpenSSLPeer(context, certificates, serverName: nil)
        try peer.connection.handshake()
        #expect(peer.connection.tls.serverName == nil)
    }
}
