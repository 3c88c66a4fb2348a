// SPDX-License-Identifier: Apache-2.0

import AgentBus
import AgentStore
import Foundation
import PushAPI
import PushTLS
import LoopTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

/// Checks enrolment codes that name the authority of the server's certificate, so that no file must be copied.
@Suite final class EnrolmentAuthorityTests {
    private let directory: TemporaryDirectory
    private let server: ScriptedDeviceServer
    private let fingerprint: [UInt8]

    init() async throws {
        directory = try TemporaryDirectory()
        server = try await ScriptedDeviceServer()
        let certificate = try Data(contentsOf: URL(fileURLWithPath: server.caFile))
        fingerprint = try CertificateAuthority.fingerprint(certificate: Array(certificate))
    }

    private var kept: String { directory.path(of: "authority.pem") }

    private func code(of fingerprint: [UInt8]?) -> String {
        EnrolmentCode(secret: "K7QM2XHD9FPT", authorityFingerprint: fingerprint).text
    }

    private func enrol(
        _ harness: AgentHarness, _ code: String, caFile: String = ""
    ) async throws -> Result<String, AgentRefusal> {
        try await harness.enrol(server.url, code: code, caFile: caFile)
    }

    @Test func `the device trusts the authority in the code, also after a restart`() async throws {
        try await liveOnce()
        let next = try AgentHarness(in: directory)
        try next.agent.start()
        try await next.loop.run("the stream is open again") { next.isConnected() }
        try next.agent.enrolment.forget()
        #expect(!FileManager.default.fileExists(atPath: kept))
    }

    /// Runs the agent for the first time, from its start to its end.
    private func liveOnce() async throws {
        let harness = try AgentHarness(in: directory)
        try harness.agent.start()
        _ = try await enrol(harness, code(of: fingerprint).lowercased()).get()
        try await harness.loop.run("the stream is open") { harness.isConnected() }
        let asked = try #require(server.requests("POST /v1/devices").first)
        #expect(asked.contains(#""code":"K7QM2XHD9FPT""#), "the server hears of the secret alone: \(asked)")
        #expect(try harness.database.identity.load()?.caFile == kept)
        let mode = try FileManager.default.attributesOfItem(atPath: kept)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try await harness.stop()
    }

    @Test func `a server without a certificate of that authority does not receive the code`() async throws {
        let harness = try AgentHarness(in: directory)
        try harness.agent.start()
        var other = fingerprint
        other[14] ^= 1
        guard case .failure(let refusal) = try await enrol(harness, code(of: other)) else {
            throw NeverHappened(what: "a refusal")
        }
        #expect(refusal == .otherAuthority)
        #expect(server.requests("POST").isEmpty)
        #expect(!FileManager.default.fileExists(atPath: kept))
        #expect(try harness.database.identity.load() == nil)
    }

    @Test func `a certificate of that authority for another host is not trusted`() async throws {
        let harness = try AgentHarness(in: directory)
        try harness.agent.start()
        let url = server.url.replacing("localhost", with: "127.0.0.1")
        let result = try await harness.enrol(url, code: code(of: fingerprint))
        guard case .failure(let refusal) = result else { throw NeverHappened(what: "a refusal") }
        #expect(refusal.code == .notTrusted)
        #expect(server.requests("POST").isEmpty)
        #expect(!FileManager.default.fileExists(atPath: kept), "an enrolment that failed leaves nothing behind")
    }

    @Test func `a server that is not trusted yet does not learn which device asks`() async throws {
        var access = ServerAccess()
        (access.clientCertificateFile, access.clientKeyFile) = (server.clientCertificateFile, server.clientKeyFile)
        let harness = try AgentHarness(in: directory, access: access)
        try harness.agent.start()
        try await server.wantCertificate()
        guard case .failure(let refusal) = try await enrol(harness, code(of: [UInt8](repeating: 1, count: 32))) else {
            throw NeverHappened(what: "a refusal")
        }
        #expect(refusal == .otherAuthority, "it saw the certificates without showing its own")
        _ = try await enrol(harness, code(of: fingerprint)).get()
        try await harness.loop.run("the stream is open") { harness.isConnected() }
    }

    @Test func `a file that the user names is trusted, whatever the code says`() async throws {
        let harness = try AgentHarness(in: directory)
        try harness.agent.start()
        let other = [UInt8](repeating: 1, count: 32)
        _ = try await enrol(harness, code(of: other), caFile: server.caFile).get()
        #expect(try harness.database.identity.load()?.caFile == server.caFile)
        #expect(!FileManager.default.fileExists(atPath: kept))
    }

    @Test func `a code without an authority uses the system's authorities, which lack this one`() async throws {
        let harness = try AgentHarness(in: directory)
        try harness.agent.start()
        guard case .failure(let refusal) = try await enrol(harness, code(of: nil)) else {
            throw NeverHappened(what: "a refusal")
        }
        #expect(refusal.code == .notTrusted)
    }

    @Test func `an incomplete or misspelled code is refused before any request`() async throws {
        let harness = try AgentHarness(in: directory)
        let whole = code(of: fingerprint)
        for garbled in [String(whole.dropLast()), whole + "0", whole.dropLast() + "U", whole.dropLast() + "!"] {
            guard case .failure(let refusal) = try await enrol(harness, garbled) else {
                throw NeverHappened(what: "a refusal")
            }
            #expect(refusal == .incompleteCode)
        }
        #expect(server.requests.isEmpty)
    }
}
