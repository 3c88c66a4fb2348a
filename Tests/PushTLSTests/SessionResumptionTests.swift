// SPDX-License-Identifier: Apache-2.0

@testable import PushTLS
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

    /// Connects and lets the peer save its session.
    private func keepSession(_ arguments: [String], serverName: String = "localhost") async throws {
        let peer = try OpenSSLPeer(
            context, certificates, ["-sess_out", sessionPath] + arguments, isQuiet: false, serverName: serverName)
        try peer.connection.handshake()
        // The ticket follows the handshake, and an answer makes the peer read it.
        try peer.connection.write(Array("answer\n".utf8))
        try await peer.waitForOutput("answer")
        peer.process.endInput()
        try await peer.process.waitForExit()
        #expect(readText(sessionPath).contains("BEGIN SSL SESSION PARAMETERS"))
    }

    /// Connects with the saved session.
    private func resume(_ arguments: [String], serverName: String = "localhost") async throws -> OpenSSLPeer {
        let peer = try OpenSSLPeer(
            context, certificates, ["-sess_in", sessionPath] + arguments, isQuiet: false, serverName: serverName)
        try peer.connection.handshake()
        try await peer.waitForOutput("Verify return code: 0 (ok)")
        return peer
    }

    @Test func `TLS 1_3 resumes a session without a certificate when the server requests one`() async throws {
        try await keepSession(["-tls1_3"])
        let peer = try await resume(["-tls1_3"])
        #expect(peer.process.output.contains("Reused, TLSv1.3"))
        #expect(peer.connection.tls.clientCertificate == nil)
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `a session with a certificate is not resumed, and the certificate is verified again`(
        version: String
    ) async throws {
        let shown = ["-cert", clientPath, "-key", clientPath, version]
        try await keepSession(shown)
        let peer = try await resume(shown)
        #expect(peer.process.output.contains("New, TLSv1"))
        #expect(peer.connection.tls.clientCertificate?.verdict == .own)
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `a client that returns without its certificate has none`(version: String) async throws {
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
    func `a resumed connection reports the server name that it requests now`(version: String) async throws {
        try await keepSession([version], serverName: "production.example")
        let peer = try await resume([version], serverName: "sandbox.example")
        #expect(peer.connection.tls.serverName == "sandbox.example")
    }
}
