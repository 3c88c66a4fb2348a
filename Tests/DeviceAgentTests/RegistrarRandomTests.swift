// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushCore
import PushNet
import LoopTestSupport
import TestSupport
import Testing

/// Runs an agent through random events, with a server that fails, loses data and is restored from a backup.
///
/// In the end the server has exactly the app's registrations and subscriptions.
@Suite(.serialized) struct RegistrarRandomTests {
    private static let app: AppID = "org.example.Mail"
    private static let channels = (1...4).map { ChannelID(high: 7, low: $0).text }

    @Test(.tags(.slow)) func `the server ends up with what the app requested, whatever happened before`() async throws {
        let server = try await ScriptedDeviceServer()
        for seed in 0..<UInt64(max(8, Patience.caseCount / 10)) {
            do {
                try await live(SeededGenerator(seed: seed), server)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }

    /// An agent, and after `restart` its next run.
    private final class Life {
        private let directory: TemporaryDirectory
        private var current: AgentHarness?

        init() throws { directory = try TemporaryDirectory() }

        func harness() throws -> AgentHarness {
            if let current { return current }
            let next = try AgentHarness(in: directory)
            try next.agent.start()
            current = next
            return next
        }

        /// Restarts the agent.
        ///
        /// - Parameter waiting: Whether to wait for the connection; otherwise requests may precede it.
        /// - Throws: The error of the agent; `NeverHappened` when it does not stop or connect.
        func restart(waiting: Bool) async throws {
            try await harness().stop()
            current = nil
            let next = try harness()
            if waiting { try await next.loop.run("it is connected") { next.isConnected() } }
        }
    }

    private func live(_ generator: SeededGenerator, _ server: ScriptedDeviceServer) async throws {
        var generator = generator
        try await server.setChannels([])
        let life = try Life()
        _ = try await life.harness().enrol(with: server).get()
        _ = try await life.harness().register(Self.app).get()
        var wanted: Set<String> = []
        for _ in 0..<10 {
            let channel = Self.channels.randomElement(using: &generator) ?? ""
            switch Int.random(in: 0..<8, using: &generator) {
            case 0...2:
                _ = try await life.harness().subscribe(channel).get()
                wanted.insert(channel)
            case 3:
                try life.harness().start { agent throws(AgentRefusal) in
                    _ = try await agent.subscriptions.subscribe(channel, of: Self.app)
                }
                wanted.insert(channel)
            case 4:
                guard wanted.remove(channel) != nil else { break }
                try life.harness().agent.subscriptions.unsubscribe(channel, of: Self.app)
            case 5: try await server.expireRegistrations()
            case 6: try await server.setChannels(Self.channels.shuffled(using: &generator).suffix(2))
            default: try await life.restart(waiting: Bool.random(using: &generator))
            }
        }
        try await life.restart(waiting: true)
        try await settle(life.harness(), server, wanted)
    }

    private func settle(_ harness: AgentHarness, _ server: ScriptedDeviceServer, _ wanted: Set<String>) async throws {
        var state = "nothing was seen"
        let deadline = ContinuousClock.now + Patience.usual * (4 * Patience.factor)
        while ContinuousClock.now < deadline {
            let listed = try harness.agent.subscriptions.all(of: Self.app)
            let (here, there) = (Set(listed.map(\.channel)), try await server.channels())
            state = "wanted \(wanted), here \(listed), there \(there)"
            let isTold = try harness.database.subscriptions.firstPending() == nil
            if isTold, here == wanted, there == wanted, listed.allSatisfy({ $0.state == .active }) { return }
            var turnCount = 0
            try await harness.loop.run("it turned some times") {
                turnCount += 1
                return turnCount > 10
            }
        }
        throw NeverHappened(what: state)
    }
}
