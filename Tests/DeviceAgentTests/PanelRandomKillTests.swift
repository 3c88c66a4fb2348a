// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushCore
import TestSupport
import Testing

/// Runs an agent and a panel through random sequences of events.
///
/// Alerts arrive and are answered, and either process is killed between any two steps.
@Suite struct PanelRandomKillTests {
    /// A bus with the programs that currently run on it.
    private final class World {
        let file: DatabaseFile
        /// Drives the panel, which outlives the agent.
        let stage: DesktopSession
        var desk: PanelDesk?
        var panel: ScriptedPanel?
        var sentCount: Int64 = 0
        /// The answer to each entry.
        var answers: [Int64: AgentStore.InboxEntry.State] = [:]
        /// The entries that were being sent to a notification server when the agent was killed.
        var inDoubt: Set<Int64> = []

        init() async throws {
            file = try DatabaseFile()
            stage = try DesktopSession(await DesktopBus())
            try startAgent()
        }

        /// Kills the agent, if it runs, and starts the next one.
        func startAgent() throws {
            try noteDoubt()
            desk = nil
            let session = try DesktopSession(stage.bus)
            session.earlier = stage
            desk = try PanelDesk(file, session, failureBackoff: .milliseconds(50))
        }

        /// Records the alerts that may be in transit to a notification server while no panel runs.
        ///
        /// The server cannot be queried later.
        ///
        /// - Throws: The error of the database.
        private func noteDoubt() throws {
            guard let database = desk?.database else { return }
            let lost = try database.inbox.newest(countMax: 100).filter { entry in
                guard entry.state == .claimed || entry.state == .shown else { return false }
                return try database.alerts.location(of: entry.entry) == nil
            }
            let new = Set(lost.map(\.entry.rawValue)).subtracting(inDoubt)
            #expect(new.count <= 1, "\(new) in doubt")
            inDoubt.formUnion(new)
        }

        /// Runs both loops for a moment.
        func run(turnCount: Int) async throws {
            var count = 0
            try await desk?.session.run(until: "a moment is over") {
                count += 1
                return count > turnCount
            }
        }

        /// Answers the first alert in the panel's list, if there is one.
        func answer(_ word: String) async throws {
            guard let panel, let desk, let first = panel.entries.first else { return }
            var refusal: String?
            panel.answer(first, word) { refusal = $0 }
            _ = try await desk.session.value("\(first) is answered") { refusal }
            guard refusal == "" else { return }
            #expect(answers[first] == nil, "\(first) was answered twice")
            answers[first] = word == "view" ? .viewed : .closed
        }
    }

    @Test(.tags(.slow)) func `after any kills every alert is answered once or waits in the panel`() async throws {
        for seed in 0..<UInt64(max(5, Patience.caseCount / 20)) {
            do {
                try await live(SeededGenerator(seed: seed))
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }

    private func live(_ generator: SeededGenerator) async throws {
        var generator = generator
        let world = try await World()
        for _ in 0..<15 {
            switch Int.random(in: 0..<6, using: &generator) {
            case 0,
                1 where world.sentCount < 12:
                world.sentCount += 1
                world.desk?.receive("text \(world.sentCount)")
            case 2: world.panel = world.panel == nil ? try ScriptedPanel(world.stage) : nil
            case 3: try world.startAgent()
            default: try await world.answer(Bool.random(using: &generator) ? "view" : "close")
            }
            try await world.run(turnCount: Int.random(in: 0..<8, using: &generator))
        }
        try await check(world)
    }

    private func check(_ world: World) async throws {
        let panel = try world.panel ?? ScriptedPanel(world.stage)
        let desk = try #require(world.desk)
        let entries = (1...max(1, world.sentCount)).filter { $0 <= world.sentCount }
        let unanswered = entries.filter { world.answers[$0] == nil && !world.inDoubt.contains($0) }
        try await desk.session.run(
            until: "\(unanswered) wait",
            evidence: {
                "\(panel.entries), \(desk.panel.entries) in the agent, \((try? desk.states().map(\.rawValue)) ?? [])"
            }
        ) {
            panel.list()
            return panel.entries.sorted() == unanswered
        }
        #expect(try desk.states() == entries.map { world.answers[$0] ?? .shown })
        let viewedCount = world.answers.values.count { $0 == .viewed }
        let reported = try desk.database.outboxLines()
        #expect(reported.count { $0.hasSuffix("viewed") } == viewedCount)
        #expect(reported.count { $0.hasSuffix("closed") } == world.answers.count - viewedCount)
    }
}
