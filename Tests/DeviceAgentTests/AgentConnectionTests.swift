// SPDX-License-Identifier: Apache-2.0

import AgentBus
import LoopTestSupport
import PushCore
import TestSupport
import Testing

@testable import AgentStore
@testable import DeviceAgent

/// Checks the user's view of connection trouble: a line in the status.
@Suite(.serialized) struct AgentConnectionTests {
    private let server: ScriptedDeviceServer
    private let directory: TemporaryDirectory

    init() async throws {
        server = try await ScriptedDeviceServer()
        directory = try TemporaryDirectory()
    }

    @Test func `a hundred refused connections cause a line in the status and no alert`() async throws {
        let harness = try AgentHarness(in: directory)
        try harness.agent.start()
        _ = try await harness.enrol(with: server).get()
        try await server.kill()
        func failures() -> Int { harness.events.count { $0 == "status" } }
        try await harness.loop.run("the end is noticed") { !harness.isConnected() }
        for _ in 1...100 {
            let count = failures()
            // Each change of the network ends the current wait.
            harness.agent.networkChanged()
            try await harness.loop.run("it is refused") { failures() > count }
        }
        let status = harness.agent.status(now: .unixEpoch)
        #expect(!status.isConnected && status.connectedSince == nil && status.lastConnectedAt != nil)
        let port = server.url.split(separator: ":").last ?? ""
        #expect(status.lastError.contains("connect to localhost port \(port): ") && !status.lastError.contains(" ms"))
        #expect(harness.screen.isEmpty)
        #expect(try harness.agent.inbox.newest(countMax: 10).isEmpty)
        #expect(harness.events.allSatisfy { $0 == "status" || $0.hasPrefix("settings") }, "\(Set(harness.events))")
    }

    /// Runs an agent until it was connected, and returns the last connection time in its status.
    private func connectOnce() async throws -> Int64 {
        let harness = try AgentHarness(in: directory)
        try harness.agent.start()
        _ = try await harness.enrol(with: server).get()
        #expect(harness.agent.status(now: Timestamp(unixSeconds: 77)).lastConnectedAt?.unixSeconds == 77, "that is now")
        try await harness.stop()
        return harness.agent.status(now: .unixEpoch).lastConnectedAt?.unixSeconds ?? 0
    }

    @Test func `a restarted agent knows the last connection time`() async throws {
        let last = try await connectOnce()
        try await server.kill()
        let second = try AgentHarness(in: directory)
        try second.agent.start()
        let status = second.agent.status(now: .unixEpoch)
        #expect(status.lastConnectedAt?.unixSeconds == last && last > 1_700_000_000 && !status.isConnected)
    }

    /// Connects an agent and releases it without stopping it, as if it were killed.
    private func connectAndKill(_ body: (AgentHarness) async throws -> Void) async throws {
        let harness = try AgentHarness(in: directory)
        try harness.agent.start()
        _ = try await harness.enrol(with: server).get()
        try await body(harness)
    }

    /// Returns the last connection time in the database of an agent that has ended.
    private func lastConnected() throws -> Int64? {
        try AgentDatabase(path: directory.path(of: "agent.sqlite")).state.value(of: .lastConnectedAt)
    }

    @Test func `a killed agent's last connection time is known after a restart`() async throws {
        try await connectAndKill { _ in }
        #expect(try lastConnected() ?? 0 > 1_700_000_000)
        try await server.kill()
        let second = try AgentHarness(in: directory)
        try second.agent.start()
        #expect(second.agent.status(now: .unixEpoch).lastConnectedAt?.unixSeconds ?? 0 > 1_700_000_000)
    }

    @Test func `an arrival and the hourly cleanup save the connection time`() async throws {
        try await connectAndKill { harness in
            try harness.database.state.set(.lastConnectedAt, to: 1)
            try await server.push(1)
            try await harness.loop.run("it came") { (try? harness.agent.inbox.newest(countMax: 1).isEmpty) == false }
            #expect(try harness.database.state.value(of: .lastConnectedAt) ?? 0 > 1_700_000_000)
            try harness.database.state.set(.lastConnectedAt, to: 1)
            harness.agent.inbox.trim()
        }
        #expect(try lastConnected() ?? 0 > 1_700_000_000)
    }

    @Test func `acknowledgements wait for the time that the server requests`() async throws {
        let harness = try AgentHarness(in: directory, streamForm: .events)
        try harness.agent.start()
        _ = try await harness.enrol(with: server).get()
        let start = ContinuousClock.now
        try await server.fail("/v1/acks", status: 429, retryAfter: "2")
        try await server.push(1)
        try await harness.loop.run("they are sent again") { server.requests("POST /v1/acks").count >= 2 }
        #expect(ContinuousClock.now - start >= .seconds(2))
    }
}
