// SPDX-License-Identifier: Apache-2.0

import AgentBus
import PushCore
import Testing
@testable import DeviceAgent
import PushNet
import LoopTestSupport
import TestSupport

@Suite(.serialized) struct UnattendedTests {
    private let server: ScriptedDeviceServer
    private let directory: TemporaryDirectory

    init() async throws {
        server = try await ScriptedDeviceServer()
        directory = try TemporaryDirectory()
    }

    private func enrolment(_ harness: AgentHarness) throws -> UnattendedEnrolment {
        try directory.write(
            "[server]\nurl = \(server.url)\nca_file = \(server.caFile)\nenrolment_code = C0DE\nname = kiosk\n",
            to: "agent.ini")
        let configuration = try AgentConfiguration(
            path: directory.path(of: "agent.ini"), isRequired: true, environment: [:], defaultName: "anna@host")
        return UnattendedEnrolment(harness.agent, loop: harness.loop, configuration: configuration)
    }

    @Test func `a device enrols from its file, even if the server is not ready at first`() async throws {
        let harness = try AgentHarness(in: directory)
        try harness.agent.start()
        try await server.fail("/v1/devices", status: 503)
        let enrolment = try enrolment(harness)
        enrolment.start()
        try await harness.loop.run("the stream is open") { harness.isConnected() }
        let requests = server.requests("POST /v1/devices")
        #expect(requests.count == 2 && Set(requests).count == 1, "the second one has the same request_id")
        let form = /POST \/v1\/devices {"code":"C0DE","name":"kiosk","platform":"linux","request_id":"[0-9a-f-]{36}"}/
        #expect(requests.first?.wholeMatch(of: form) != nil, "\(requests)")
    }

    @Test(arguments: [
        (404, "<html>"), (404, "NotFound"), (429, "TooManyRequests"), (401, "<html>"), (403, "<html>"),
        (400, "<title>400 No required SSL certificate was sent</title>"),
    ])
    func `an error that is not a refusal of the code is retried, and the status says when`(
        status: Int, word: String
    ) async throws {
        let harness = try AgentHarness(in: directory)
        try harness.agent.start()
        try await server.fail("/v1/devices", status: status, word: word)
        let enrolment = try enrolment(harness)
        enrolment.start()
        try await harness.loop.run("the next try is known") {
            harness.agent.status(now: Timestamp(unixSeconds: 1000)).nextTryAt?.unixSeconds ?? 0 >= 1000
        }
        let waiting = harness.agent.status(now: Timestamp(unixSeconds: 1000))
        #expect(
            waiting.nextTryAt?.unixSeconds ?? 0 <= 1002 && waiting.line.hasPrefix("Not enrolled: the server answered"))
        if status == 400 {
            #expect(waiting.lastError.contains("the server requires a client certificate: set client_cert"))
        }
        try await harness.loop.run("the stream is open") { harness.isConnected() }
        #expect(server.requests("POST /v1/devices").count == 2)
        #expect(harness.agent.status(now: Timestamp(unixSeconds: 1000)).nextTryAt == nil)
    }

    @Test func `an enrolment waits as long as the server requests, and then succeeds`() async throws {
        let harness = try AgentHarness(in: directory)
        try harness.agent.start()
        try await server.fail("/v1/devices", status: 429, retryAfter: "1")
        let enrolment = try enrolment(harness)
        let start = ContinuousClock.now
        enrolment.start()
        try await harness.loop.run("the stream is open") { harness.isConnected() }
        #expect(ContinuousClock.now - start >= .seconds(1) && server.requests("POST /v1/devices").count == 2)
    }

    @Test func `a refused code is not retried`() async throws {
        let harness = try AgentHarness(in: directory)
        try harness.agent.start()
        try await server.fail("/v1/devices", status: 403, word: "BadEnrolmentCode")
        let enrolment = try enrolment(harness)
        enrolment.start()
        try await harness.loop.run("the refusal is in the status") {
            harness.agent.status(now: .unixEpoch).lastError.contains("The agent does not retry")
        }
        #expect(harness.agent.status(now: Timestamp(unixSeconds: 1000)).nextTryAt == nil)
        var isLater = false
        harness.loop.schedule(after: .milliseconds(1200)) { isLater = true }
        try await harness.loop.run("more than the first wait passed") { isLater }
        #expect(server.requests("POST /v1/devices").count == 1)
    }

    @Test func `a device that is already enrolled stays at its server`() async throws {
        let harness = try AgentHarness(in: directory)
        try harness.agent.start()
        _ = try await harness.enrol(with: server)
        let enrolment = try enrolment(harness)
        enrolment.start()
        var isLater = false
        harness.loop.schedule(after: .milliseconds(50)) { isLater = true }
        try await harness.loop.run("a moment passed") { isLater }
        #expect(server.requests("POST /v1/devices").count == 1)
    }
}
