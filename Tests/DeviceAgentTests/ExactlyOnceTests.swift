// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushCore
import PushNet
import TestSupport
import Testing

/// Runs an agent through random sequences of events and kills.
///
/// Notifications arrive, arrive again, are shown or cannot be shown. The process is killed between any two steps and
/// while it shows an alert.
@Suite struct ExactlyOnceTests {
    /// A screen that may refuse an alert, or accept it and end before it answers.
    private final class Screen: AlertPresenter {
        enum Mood: CaseIterable { case good, refusing, dying }

        weak var delegate: (any AlertPresenterDelegate)?
        let isAvailable = true
        var mood = Mood.good
        var shownCounts: [EntryID: Int] = [:]
        /// The entries that were shown by a process that ended before it could record that.
        var inDoubt: Set<EntryID> = []

        func present(_ alert: Alert, completion: @escaping (AlertPresented) -> Void) {
            switch mood {
            case .refusing: return completion(.unavailable("refused"))
            case .good: completion(.shown(playsSound: true))
            case .dying: inDoubt.insert(alert.entry)
            }
            shownCounts[alert.entry, default: 0] += 1
        }

        func withdraw(entries: [EntryID]) {}
        func adopt(_ alerts: [(alert: Alert, location: AlertLocation)]) {}
    }

    /// One process of the agent, from its start to its kill.
    private struct Life {
        let database: AgentDatabase
        let receiver: Receiver
        let queue: PresentationQueue

        init(_ file: DatabaseFile, _ screen: Screen) throws {
            database = try file.open()
            receiver = Receiver(database)
            queue = PresentationQueue(database, loop: try EventLoop(), presenter: screen, sounds: nil)
        }
    }

    @Test func `nothing is lost, nothing is shown twice, and everything is acknowledged`() throws {
        for seed in 0..<UInt64(max(10, Patience.caseCount / 5)) {
            do {
                try live(SeededGenerator(seed: seed))
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }

    private func live(_ generator: SeededGenerator) throws {
        var generator = generator
        let file = try DatabaseFile()
        let screen = Screen()
        var life: Life? = try Life(file, screen)
        try life?.database.apps.save(Sample.app)
        var sentCount: UInt64 = 0
        for _ in 0..<8 {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0, 1:
                // Unacknowledged notifications arrive again, followed by the next one.
                let first = UInt64.random(in: max(1, sentCount)...(sentCount + 1), using: &generator)
                sentCount += 1
                let arrivals = (first...sentCount).map { Arrival.notification(Sample.notification($0)) }
                let waiting = try life?.receiver.receive(arrivals, now: .unixEpoch).waiting ?? []
                // A kill may come before anything is shown.
                if Bool.random(using: &generator) { life?.queue.entriesArrived(waiting) }
            case 2:
                screen.mood = Screen.Mood.allCases.randomElement(using: &generator) ?? .good
                if screen.mood == .good { life?.queue.presenterBecameAvailable() }
            default:
                life = nil
                life = try Life(file, screen)
                try life?.queue.resume()
            }
        }
        screen.mood = .good
        life = nil
        let last = try Life(file, screen)
        try last.queue.resume()
        try check(screen, last.database, sentCount)
    }

    private func check(_ screen: Screen, _ database: AgentDatabase, _ sentCount: UInt64) throws {
        let entries = try database.inbox.newest(countMax: 100)
        #expect(entries.count == Int(sentCount))
        #expect(screen.shownCounts.values.allSatisfy { $0 == 1 })
        // The limit is five alerts a second, so the last run may stop there.
        let waiting = Set(try database.inbox.waiting())
        #expect(waiting.isEmpty || screen.shownCounts.count >= PresentationQueue.perSecondMax)
        for entry in entries where !waiting.contains(entry.entry) {
            #expect(screen.shownCounts[entry.entry] == 1)
            #expect(entry.reason.isEmpty == !screen.inDoubt.contains(entry.entry))
        }
        let delivered = Set(try database.outboxLines().filter { $0.hasSuffix("delivered") })
        #expect(delivered == Set((0..<sentCount).map { "\($0 + 1) delivered" }))
    }
}
