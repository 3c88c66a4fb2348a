// SPDX-License-Identifier: Apache-2.0

import PushTLS
import TestSupport
import Testing

@Suite struct SessionResumptionTests {
    private let certificates: TestCertificates
    private let context: TLSContext
    private let clientPath: String
    private var sessionPath: String { certificates.directory.path(of: "session.pem") }

    init() throws {
        certificates = try TestCertificates()
        context = try certificates.askingContext()
        clientPath = try certificates.write(try certificates.issueClient())
    }

    /// Connects and lets the peer keep its session.
    private func keepSession(_ arguments: [String], serverName: String = "localhost") async throws {
        let peer = try OpenSSLPeer(
            context, certificates, ["-sess_out", sessionPath] + arguments, isQuiet: false, serverName: serverName)
        try peer.connection.handshake()
        // A ticket is behind the handshake: an answer makes the peer read it.
        try peer.connection.write(Array("answer\n".utf8))
        try await peer.waitForOutput("answer")
        peer.process.endInput()
        try await peer.process.waitForExit()
        #expect(readText(sessionPath).contains("BEGIN SSL SESSION PARAMETERS"))
    }

    /// Connects with the session that was kept.
    private func resume(_ arguments: [String], serverName: String = "localhost") async throws -> OpenSSLPeer {
        let peer = try OpenSSLPeer(
            context, certificates, ["-sess_in", sessionPath] + arguments, isQuiet: false, serverName: serverName)
        try peer.connection.handshake()
        try await peer.waitForOutput("Verify return code: 0 (ok)")
        return peer
    }

    @Test func `TLS 1_3 resumes a session without a certificate, where the server asks for one`() async throws {
        try await keepSession(["-tls1_3"])
        let peer = try await resume(["-tls1_3"])
        #expect(peer.process.output.contains("Reused, TLSv1.3"))
        #expect(peer.connection.tls.clientCertificate == nil)
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `a session with a certificate is not resumed and the certificate is judged again`(
        version: String
    ) async throws {
        let shown = ["-cert", clientPath, "-key", clientPath, version]
        try await keepSession(shown)
        let peer = try await resume(shown)
        #expect(peer.process.output.contains("New, TLSv1"))
        #expect(peer.connection.tls.clientCertificate?.verdict == .own)
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `who was seen with a certificate and comes without one has none`(version: String) async throws {
        try await keepSession(["-cert", clientPath, "-key", clientPath, version])
        let peer = try await resume([version])
        #expect(peer.process.output.contains("New, TLSv1"))
        #expect(peer.connection.tls.clientCertificate == nil)
    }

    @Test func `a refused certificate stays refused`() async throws {
        let path = try await OddCertificates(certificates: certificates).make("self", signer: nil)
        let shown = ["-cert", path, "-key", path, "-tls1_3"]
        try await keepSession(shown)
        let peer = try await resume(shown)
        #expect(peer.connection.tls.clientCertificate?.verdict == .refused("self-signed certificate"))
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `a peer that comes back is heard with the server name that it asks for now`(version: String) async throws {
        try await keepSession([version], serverName: "production.example")
        let peer = try await resume([version], serverName: "sandbox.example")
        #expect(peer.connection.tls.serverName == "sandbox.example")
    }
}
