// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import PushTLS

/// Connections between servers, on the settings of a server that has clients too.
@Suite struct PeerConnectionTests {
    private static let domain = "peer.example.internal"
    private let certificates: TestCertificates
    private let authority: (certificate: [UInt8], privateKey: [UInt8])

    init() throws {
        certificates = try TestCertificates()
        authority = try CertificateAuthority.make(commonName: "Peers")
    }

    private func credentials(
        _ name: String, seconds: Int = 600, by other: (certificate: [UInt8], privateKey: [UInt8])? = nil,
        trusting trusted: [UInt8]? = nil
    ) throws -> PeerCredentials {
        let signer = other ?? authority
        let issued = try CertificateAuthority.issuePeerCertificate(
            name: name, seconds: seconds, authorityCertificate: signer.certificate,
            authorityPrivateKey: signer.privateKey)
        return PeerCredentials(
            domain: Self.domain, authorities: trusted ?? authority.certificate, certificate: issued.certificate,
            privateKey: issued.privateKey)
    }

    /// Returns the settings of a server named `1.peer.example.internal`.
    private func server(_ credentials: PeerCredentials? = nil) throws -> TLSContext {
        try TLSContext(
            certificateChainFile: certificates.certificatePath, privateKeyFile: certificates.keyPath,
            clientAuthorities: ClientAuthorities(ownFile: certificates.authorityPath),
            peers: credentials ?? self.credentials("1.\(Self.domain)"))
    }

    /// The two ends of a connection in this process.
    private final class Ends {
        let server: TLSConnection
        let client: TLSConnection
        private let sockets: [Int32]

        init(_ context: TLSContext, _ credentials: PeerCredentials, to name: String) throws {
            var sockets: [Int32] = [0, 0]
            let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
            try #require(unsafe socketpair(AF_UNIX, type, 0, &sockets) == 0)
            self.sockets = sockets
            server = try TLSConnection(context, descriptor: sockets[0])
            client = try TLSConnection(
                try TLSContext(connectingWith: credentials), to: name, descriptor: sockets[1])
        }

        deinit { for socket in sockets { close(socket) } }

        /// Completes the handshake; throws the error of the client, else that of the server.
        func handshake() throws {
            var isDone = (client: false, server: false)
            var serverError: (any Error)?
            for _ in 0..<20 where !isDone.client || !isDone.server {
                if case .done = try client.handshake() { isDone.client = true }
                do { if case .done = try server.handshake() { isDone.server = true } } catch { serverError = error }
            }
            if let serverError { throw serverError }
            try #require(isDone == (true, true))
        }
    }

    @Test func `both ends know each other by their authority`() throws {
        let ends = try Ends(server(), credentials("2.\(Self.domain)"), to: "1.\(Self.domain)")
        #expect(ends.server.peerCertificate == nil)
        try ends.handshake()
        let certificate = try #require(ends.server.peerCertificate)
        #expect(certificate.verdict == .own)
        #expect(certificate.subjectCommonName == "2.\(Self.domain)")
        // A peer's certificate must not count as a provider's.
        #expect(ends.server.clientCertificate == nil)
        #expect(ends.server.serverName == "1.\(Self.domain)")
        if case .http1 = ends.server.application {} else { Issue.record("another protocol was selected") }
    }

    @Test func `bytes go both ways`() throws {
        let ends = try Ends(server(), credentials("2.\(Self.domain)"), to: "1.\(Self.domain)")
        try ends.handshake()
        for (from, to) in [(ends.client, ends.server), (ends.server, ends.client)] {
            #expect(try unsafe [UInt8](1...9).withUnsafeBytes { try unsafe from.write($0) } == .bytes(9))
            var received = [UInt8](repeating: 0, count: 99)
            // A client first reads the session ticket, which has no bytes for the caller.
            var transfer = TLSConnection.Transfer.wantsRead
            for _ in 0..<9 where transfer == .wantsRead {
                transfer = try unsafe received.withUnsafeMutableBytes { try unsafe to.read(into: $0) }
            }
            #expect(transfer == .bytes(9))
            #expect(received.prefix(9).elementsEqual(1...9))
        }
    }

    @Test(arguments: ["3.peer.example.internal", "1.peer.example.internal.example", "localhost"])
    func `a server with another name is refused`(name: String) throws {
        let ends = try Ends(server(), credentials("2.\(Self.domain)"), to: name)
        #expect(throws: TLSError.self) { try ends.handshake() }
    }

    @Test func `a server whose certificate another authority issued is refused, with the reason`() throws {
        let other = try CertificateAuthority.make(commonName: "Peers")
        let ends = try Ends(
            server(credentials("1.\(Self.domain)", by: other)), credentials("2.\(Self.domain)"),
            to: "1.\(Self.domain)")
        #expect { try ends.handshake() } throws: { error in
            guard case .peer(let text)? = error as? TLSError else { return false }
            return text.hasPrefix("the server's certificate is not trusted: ")
        }
    }

    @Test func `a server whose certificate has expired is refused, with the reason`() throws {
        let ends = try Ends(
            server(credentials("1.\(Self.domain)", seconds: -60)), credentials("2.\(Self.domain)"),
            to: "1.\(Self.domain)")
        #expect(throws: TLSError.peer("the server's certificate is not trusted: certificate has expired")) {
            try ends.handshake()
        }
    }

    @Test func `a connecting server whose certificate another authority issued is not trusted`() throws {
        let other = try CertificateAuthority.make(commonName: "Peers")
        let ends = try Ends(server(), credentials("2.\(Self.domain)", by: other), to: "1.\(Self.domain)")
        try ends.handshake()
        guard case .refused = try #require(ends.server.peerCertificate).verdict else {
            Issue.record("the certificate is trusted")
            return
        }
    }

    @Test func `a connecting server whose certificate has expired is not trusted`() throws {
        let ends = try Ends(server(), credentials("2.\(Self.domain)", seconds: -60), to: "1.\(Self.domain)")
        try ends.handshake()
        #expect(ends.server.peerCertificate?.verdict == .refused("certificate has expired"))
    }

    @Test func `a provider's certificate is not that of another server`() throws {
        let provider = try certificates.issueClient()
        let ends = try Ends(
            server(),
            PeerCredentials(
                domain: Self.domain, authorities: authority.certificate, certificate: provider.certificate,
                privateKey: provider.privateKey), to: "1.\(Self.domain)")
        try ends.handshake()
        guard case .refused = try #require(ends.server.peerCertificate).verdict else {
            Issue.record("the certificate is trusted")
            return
        }
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `clients are shown the ordinary certificate, and may show theirs`(version: String) async throws {
        let path = try certificates.write(certificates.issueClient())
        let peer = try OpenSSLPeer(
            server(), certificates, [version, "-cert", path, "-key", path], serverName: "localhost")
        try peer.connection.handshake()
        #expect(peer.connection.tls.peerCertificate == nil)
        #expect(peer.connection.tls.clientCertificate?.verdict == .own)
    }

    @Test func `another server's certificate is not trusted as a provider's`() async throws {
        let issued = try credentials("2.\(Self.domain)")
        let path = try certificates.directory.write(text(issued.certificate + issued.privateKey), to: "peer.pem")
        let peer = try OpenSSLPeer(
            server(), certificates, ["-tls1_3", "-cert", path, "-key", path], serverName: "localhost")
        try peer.connection.handshake()
        guard case .refused = try #require(peer.connection.tls.clientCertificate).verdict else {
            Issue.record("the certificate is trusted")
            return
        }
    }

    @Test func `another server must use TLS 1.3`() async throws {
        let peer = try OpenSSLPeer(server(), certificates, ["-tls1_2"], serverName: "1.\(Self.domain)")
        #expect(throws: TLSError.self) { try peer.connection.handshake() }
    }

    @Test(arguments: ["", "a b", "*.example", String(repeating: "a", count: 63) + ".b"])
    func `a name that does not fit into a certificate is refused`(name: String) {
        #expect(throws: TLSError.self) { try credentials(name) }
    }

    @Test func `a key that does not match is refused`() throws {
        var mixed = try credentials("2.\(Self.domain)")
        mixed.privateKey = try credentials("2.\(Self.domain)").privateKey
        #expect(throws: TLSError.self) { try TLSContext(connectingWith: mixed) }
        #expect(throws: TLSError.self) { try server(mixed) }
    }
}
