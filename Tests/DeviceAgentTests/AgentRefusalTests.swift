// SPDX-License-Identifier: Apache-2.0

import AgentBus
import AgentStore
@testable import DeviceAgent
import LoopTestSupport
import PushCore
import TestSupport
import Testing

/// Checks enrolments and registrations that the agent or the server refuses.
@Suite(.serialized) struct AgentRefusalTests {
    private let directory: TemporaryDirectory
    private let server: ScriptedDeviceServer

    init() async throws {
        directory = try TemporaryDirectory()
        server = try await ScriptedDeviceServer()
    }

    @Test(arguments: [("", "This server requires an enrolment code."), ("C0DE", "the server answered 403")])
    func `a refused enrolment without a code asks for one`(code: String, text: String) async throws {
        let harness = try AgentHarness(in: directory)
        try await server.fail("/v1/devices", status: 403, word: "BadEnrolmentCode")
        let result = try await harness.enrol(server.url, code: code, caFile: server.caFile)
        guard case .failure(let refusal) = result else { throw NeverHappened(what: "a refusal") }
        #expect(refusal.code == .badEnrolmentCode)
        #expect(refusal.message.hasPrefix(text) && refusal.message.utf8.count < 400, "\(refusal.message)")
        #expect(code.isEmpty || refusal.message.contains("a test wants it"), "\(refusal.message)")
    }

    @Test func `a server with an unknown authority is not trusted`() async throws {
        let harness = try AgentHarness(in: directory)
        let result = try await harness.enrol(server.url)
        guard case .failure(let refusal) = result else { throw NeverHappened(what: "a refusal") }
        #expect(refusal.code == .notTrusted)
        #expect(refusal.message.hasPrefix("the server is not trusted: "))
    }

    @Test(arguments: [
        ("../etc/passwd", nil, AgentErrorCode.badAppID), ("", nil, .badAppID), ("a/b", nil, .badAppID),
        ("org.example.Other", "a b", .badTopic), ("org.example.Other", "a/../b", .badTopic),
        ("org.example.Other", "org.example.Mail", .badTopic),
    ])
    func `an invalid registration is refused before any request`(
        appID: AppID, topic: TopicName?, code: AgentErrorCode
    ) async throws {
        let harness = try await AgentHarness.connected(in: directory, to: server)
        let result = try await harness.register(appID, topic: topic)
        guard case .failure(let refusal) = result else { throw NeverHappened(what: "a refusal") }
        #expect(refusal.code == code)
        #expect(server.requests("PUT /v1/apps").count == 1)
    }

    @Test(arguments: [
        (404, AgentErrorCode.unknownTopic), (503, .unreachable), (409, .refused), (401, .deviceRemoved),
    ])
    func `the server's answer to a registration reaches the app`(status: Int, code: AgentErrorCode) async throws {
        let harness = try await AgentHarness.connected(in: directory, to: server)
        try await server.fail("/v1/apps/org.example.Other", status: status)
        guard case .failure(let refusal) = try await harness.register("org.example.Other") else {
            throw NeverHappened(what: "a refusal")
        }
        #expect(refusal.code == code)
        #expect(try harness.agent.registrations.apps().count == 1)
    }

    @Test(arguments: [
        (403, "BadEnrolmentCode", AgentErrorCode.badEnrolmentCode), (403, "<html>", .refused),
        (401, "Other", .refused), (404, "<html>", .refused), (503, "Other", .unreachable),
    ])
    func `a refused enrolment leaves no state`(
        status: Int, word: String, code: AgentErrorCode
    ) async throws {
        let harness = try AgentHarness(in: directory)
        try harness.agent.start()
        try await server.fail("/v1/devices", status: status, word: word)
        guard case .failure(let refusal) = try await harness.enrol(with: server) else {
            throw NeverHappened(what: "a refusal")
        }
        #expect(refusal.code == code)
        #expect(try harness.secretFile.read() == nil)
        #expect(try harness.database.identity.load() == nil)
    }

    @Test(arguments: [
        "http://localhost:1", "https://", "https://a b", "https://user@host", "https://host/path", "https://host?x",
        "ftp://host", "host", "", "https://h\nx", "https://host\\x",
    ])
    func `the server for enrolment is an https URL without a path`(url: String) async throws {
        let harness = try AgentHarness(in: directory)
        let result = try await harness.enrol(url)
        guard case .failure(let refusal) = result else { throw NeverHappened(what: "a refusal") }
        #expect(refusal.code == .badServer)
    }
}
