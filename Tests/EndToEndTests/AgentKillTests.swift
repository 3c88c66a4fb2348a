// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceEndToEnd {
    /// Kills the real agent at random moments while notifications arrive, and compares its inbox with the shown alerts.
    struct AgentKillTests {
        private static let doubt = "the agent stopped while it was showing this notification"

        /// Runs 15 rounds, and 300 in `make soak`.
        @Test(.tags(.slow))
        func
            `after kills at any moment all that was accepted is there once, was shown once, and the badge is the newest`()
            async throws
        {
            let seed = UInt64.random(in: 0...UInt64.max)
            var generator = SeededGenerator(seed: seed)
            let turmoil = try await ChaosScenario()
            let rounds = max(15, Patience.caseCount * 3 / 100)
            let (sent, kills) = try await turmoil.run(rounds: rounds, using: &generator)
            try await turmoil.settle()
            let entries = try await turmoil.stack.user.wholeInbox()
            let numbers = entries.compactMap { number(in: $0.body) }

            let story: Comment = "seed \(seed), \(kills)"
            #expect(numbers == numbers.sorted(), story)
            #expect(Set(numbers).count == entries.count, story)
            #expect(sent.accepted.subtracting(numbers).isEmpty, story)
            #expect(Set(numbers).subtracting(sent.accepted).subtracting(sent.uncertain).isEmpty, story)
            #expect(sent.accepted.count >= rounds, story)

            let shown = turmoil.daemon.shown()
            let doubtCount = checkShown(entries, shown, story)
            #expect(doubtCount <= kills.agent, story)
            let newest = numbers.last { !ChaosScenario.isStaying($0) }
            #expect(turmoil.badgeOnIcon == newest, story)
            let badge = try await turmoil.stack.user.posthorn("badge", TestStack.app).output
            #expect(Int(badge.trimmingCharacters(in: .whitespacesAndNewlines)) == newest, story)
            print(
                "\(story): \(sent.accepted.count) accepted, \(sent.uncertain.count) unanswered, \(doubtCount) in doubt,",
                "\(entries.count { $0.reason == "too-many" }) too many, \(shown.count) calls of Notify")
        }

        /// Compares the calls to the notification servers with the inbox, and returns the number of uncertain entries.
        private func checkShown(
            _ entries: [InboxEntry], _ shown: [(call: RecordingDaemon.Shown, isAnswered: Bool)], _ story: Comment
        ) -> Int {
            let isSummary = { (body: String) in body.contains(" more notification") }
            let hasSummary = shown.contains { isSummary($0.call.body) }
            let calls = Dictionary(grouping: shown.filter { !isSummary($0.call.body) }) {
                number(in: $0.call.body) ?? 0
            }
            #expect(Set(calls.keys).subtracting(entries.compactMap { number(in: $0.body) }).isEmpty, story)
            var doubtCount = 0
            for entry in entries {
                guard let number = number(in: entry.body) else { continue }
                let calls = calls[number] ?? []
                let isInDoubt = entry.reason == Self.doubt
                doubtCount += isInDoubt && calls.isEmpty ? 1 : 0
                let detail: Comment = "\(entry), \(calls), \(story)"
                switch entry.state {
                case "shown" where isInDoubt: break
                // A server that was killed before its answer may have left the entry to a banner that sums up.
                case "shown" where !calls.contains(where: \.isAnswered) && !ChaosScenario.isStaying(number):
                    #expect(hasSummary, "neither shown nor summed up: \(detail)")
                case "shown": #expect(calls.contains { $0.isAnswered }, detail)
                default: #expect(entry.reason == "too-many" && calls.isEmpty, detail)
                }
                // A server that is killed before it answers counts as having shown nothing.
                let seen = calls.filter(\.isAnswered)
                #expect(Set(seen.map(\.call.daemon)).count == seen.count, "twice on one screen: \(detail)")
                #expect(ChaosScenario.isStaying(number) || seen.count <= 1, "a banner came back: \(detail)")
            }
            return doubtCount
        }

        private func number(in body: String) -> Int? { body.split(separator: " ").last.flatMap { Int($0) } }
    }
}
