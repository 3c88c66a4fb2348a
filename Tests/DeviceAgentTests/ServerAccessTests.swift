// SPDX-License-Identifier: Apache-2.0

import AgentBus
@testable import DeviceAgent
import PushCore
import PushNet
import LoopTestSupport
import TestSupport
import Testing

/// Checks connections through proxies and with client certificates, as the agent's status shows them.
@Suite(.serialized) struct ServerAccessTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func access(_ change: (inout ServerAccess) -> Void) -> ServerAccess {
        var access = ServerAccess()
        change(&access)
        return access
    }

    private func harness(_ access: ServerAccess, _ form: StreamForm = .auto) throws -> AgentHarness {
        let harness = try AgentHarness(in: directory, streamForm: form, access: access)
        try harness.agent.start()
        return harness
    }

    /// Repeats an enrolment until it is refused with an explanation.
    ///
    /// A server that closes immediately may lose its explanation. That happens with TLS 1.3 when it had already
    /// received the request.
    ///
    /// - Parameters:
    ///   - access: The proxy and the client certificate.
    ///   - server: The server.
    ///   - words: The words that the explanation must contain.
    /// - Throws: An error when the explanation does not arrive.
    private func waitForRefusal(_ access: ServerAccess, _ server: ScriptedDeviceServer, _ words: String) async throws {
        let harness = try harness(access)
        var last = ""
        try await eventually("it hears of it: \(words)", evidence: { last }) {
            guard case .failure(let refusal) = try await harness.enrol(with: server) else { return false }
            last = refusal.message
            return last.contains(words)
        }
    }

    @Test(arguments: [StreamForm.websocket, .events])
    func `all requests use the proxy`(form: StreamForm) async throws {
        let server = try await ScriptedDeviceServer()
        let proxy = try await ScriptedProxy()
        let harness = try harness(access { $0.proxy = proxy.url }, form)
        _ = try await harness.enrol(with: server).get()
        #expect(harness.isConnected())
        let target = String(server.url.dropFirst("https://".count))
        #expect(proxy.targets.count >= 1 && proxy.targets.allSatisfy { $0 == target })
    }

    @Test func `a proxy receives the credentials, and its refusal is explained`() async throws {
        let server = try await ScriptedDeviceServer()
        let proxy = try await ScriptedProxy(user: "Anna:s3cret")
        try await waitForRefusal(
            access { $0.proxy = proxy.url }, server, "the proxy requires authentication: set proxy in agent.ini")
        let harness = try harness(access { $0.proxy = "http://Anna:s3cret@\(proxy.address)" })
        _ = try await harness.enrol(with: server).get()
    }

    @Test func `a proxy that cannot reach the server is distinguished from an unreachable server`() async throws {
        let server = try await ScriptedDeviceServer()
        let proxy = try await ScriptedProxy()
        let harness = try harness(access { $0.proxy = proxy.url })
        _ = try await harness.enrol(with: server).get()
        try await server.kill()
        try await harness.loop.run("the status says so") {
            harness.agent.status(now: .unixEpoch).lastError.contains("the proxy refuses to connect to the server")
        }
    }

    @Test(arguments: [StreamForm.websocket, .events])
    func `a server that requests a certificate gets it`(form: StreamForm) async throws {
        let server = try await ScriptedDeviceServer(wantsCertificate: true)
        let access = access {
            $0.clientCertificateFile = server.clientCertificateFile
            $0.clientKeyFile = server.clientKeyFile
        }
        let harness = try harness(access, form)
        _ = try await harness.enrol(with: server).get()
        #expect(harness.isConnected())
        try await server.push(1)
        try await harness.loop.run("a notification came") { harness.events.contains { $0.hasPrefix("arrived") } }
    }

    @Test func `the status of a device without a valid certificate names the setting to change`() async throws {
        let server = try await ScriptedDeviceServer(wantsCertificate: true)
        try await waitForRefusal(ServerAccess(), server, "set client_cert and client_key in agent.ini")
        let stranger = access {
            $0.clientCertificateFile = server.caFile
            $0.clientKeyFile = server.serverKeyFile
        }
        try await waitForRefusal(stranger, server, "does not accept this device's certificate")
        let absent = access { $0.clientCertificateFile = "/nowhere.pem" }
        try await waitForRefusal(absent, server, "see client_cert and client_key in agent.ini")
    }

    @Test func `an invalid local file is named, and the server is not blamed`() async throws {
        let server = try await ScriptedDeviceServer()
        let harness = try harness(ServerAccess())
        let unusable = "certificate or its key cannot be used: see client_cert and client_key in agent.ini"
        for (ca, certificate, key, words) in [
            (
                "/nowhere.pem", nil, nil,
                "check its path and content (error setting certificate file: /nowhere.pem)"
            ),
            (
                server.caFile, "/nowhere.pem", nil,
                "\(unusable) (could not load PEM client certificate from /nowhere.pem"
            ),
            (
                server.caFile, server.caFile, "/nowhere.pem",
                "\(unusable) (unable to set private key file: '/nowhere.pem'"
            ),
        ] {
            let client = ServerSession(
                loop: harness.loop, url: server.url, caFile: ca, secret: nil,
                access: access { ($0.clientCertificateFile, $0.clientKeyFile) = (certificate, key) })
            var error: ServerFailure?
            harness.loop.startTask {
                do throws(ServerFailure) { try await client.client.removeSelf() } catch let failure { error = failure }
            }
            try await harness.loop.run("it fails") { error != nil }
            guard case .badFile(let text) = error else {
                throw NeverHappened(what: "\(words): \(String(describing: error))")
            }
            #expect(text.contains(words), "\(text)")
            #expect(AgentRefusal(.badFile(text)).code == .badFile)
        }
        #expect(server.requests.isEmpty)
    }

    @Test func `a server that closes during the handshake is unreachable, not untrusted`()
        async throws
    {
        let script = """
            import socket
            listener = socket.create_server(("127.0.0.1", 0))
            print(listener.getsockname()[1], flush=True)
            while True: listener.accept()[0].close()
            """
        let process = try RunningProcess("/usr/bin/python3", ["-c", script])
        let harness = try harness(ServerAccess())
        let result = try await harness.enrol("https://127.0.0.1:\(try await process.outputLine())")
        let refusal = try #require(throws: AgentRefusal.self) { try result.get() }
        #expect(
            refusal.code == .unreachable && refusal.message.hasPrefix("the server cannot be reached: "), "\(refusal)")
    }

    @Test(arguments: [StreamForm.auto, .events])
    func `a certificate that is requested later is in the status, and no alert is shown`(form: StreamForm) async throws
    {
        let server = try await ScriptedDeviceServer()
        let harness = try harness(ServerAccess(), form)
        _ = try await harness.enrol(with: server).get()
        try await server.wantCertificate()
        try await server.endStreams()
        try await harness.loop.run("the status says so") {
            harness.agent.status(now: .unixEpoch).lastError.contains("set client_cert and client_key in agent.ini")
        }
        #expect(harness.screen.isEmpty)
    }
}
