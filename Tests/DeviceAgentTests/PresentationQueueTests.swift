// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushAPI
import PushCore
import PushNet
import LoopTestSupport
import TestSupport
import Testing

/// A terminal whose screen the test reads, and which can fail or end while it shows an alert.
private final class Screen {
    var text = ""
    var isBroken = false
    var writeCount = 0

    func presenter() -> TerminalPresenter {
        TerminalPresenter { [self] bytes in
            guard !isBroken else { return false }
            text += String(decoding: bytes, as: UTF8.self)
            writeCount += 1
            return true
        }
    }
}

/// Accepts alerts and never answers, which simulates a kill while an alert is shown.
private final class DyingPresenter: AlertPresenter {
    weak var delegate: (any AlertPresenterDelegate)?
    let isAvailable = true
    var shownCount = 0
    func present(_ alert: Alert, completion: @escaping (AlertPresented) -> Void) { shownCount += 1 }
    func withdraw(entries: [EntryID]) {}
    func adopt(_ alerts: [(alert: Alert, location: AlertLocation)]) {}
}

/// Records the keys under which alerts replace each other.
private final class Keys: AlertPresenter {
    weak var delegate: (any AlertPresenterDelegate)?
    let isAvailable = true
    var noted: [String?] = []
    func present(_ alert: Alert, completion: @escaping (AlertPresented) -> Void) {
        noted.append(alert.collapseID)
        completion(.shown(playsSound: false))
    }
    func withdraw(entries: [EntryID]) {}
    func adopt(_ alerts: [(alert: Alert, location: AlertLocation)]) {}
}

private final class Ear: SoundPresenter {
    var heard: [Sound] = []
    /// The pending answers about sounds, which arrive later, as from a sound server's thread.
    var answers: [(SuppressionReason?) -> Void] = []
    var answersLater = false

    func play(_ sound: Sound, appID: AppID?, appName: String, completion: @escaping (SuppressionReason?) -> Void) {
        heard.append(sound)
        if answersLater { answers.append(completion) } else { completion(nil) }
    }
}

@Suite struct PresentationQueueTests {
    private let file: DatabaseFile
    private let screen = Screen()

    init() throws { file = try DatabaseFile() }

    private func receive(_ payloads: [String], into database: AgentDatabase, firstNumber: UInt64 = 1) throws
        -> [EntryID]
    {
        try database.apps.save(Sample.app)
        let arrivals = payloads.enumerated().map {
            Arrival.notification(Sample.notification(firstNumber + UInt64($0.offset), payload: $0.element))
        }
        return try Receiver(database).receive(arrivals, now: .unixEpoch).waiting
    }

    private static let alert = #"{"aps":{"alert":"Hello"}}"#
    private static let another = #"{"aps":{"alert":"Bye"}}"#

    @Test func `a waiting alert is shown once, and the server is notified`() throws {
        let database = try file.open()
        let loop = try EventLoop()
        let queue = PresentationQueue(database, loop: loop, presenter: screen.presenter(), sounds: nil)
        let waiting = try receive([Self.alert], into: database)
        queue.entriesArrived(waiting)
        try queue.resume()
        #expect(screen.writeCount == 1)
        #expect(screen.text.hasPrefix("[Example Mail] Hello\n"))
        #expect(try database.inbox.entry(1)?.state == .shown)
        #expect(try database.outboxLines() == ["1 delivered", "1 shown"])
    }

    @Test func `collapse IDs that are not UTF-8 are distinguished`() throws {
        let database = try file.open()
        try database.apps.save(Sample.app)
        let ids: [[UInt8]] = [[0xFE], [0xFF], Array("\u{FFFD}".utf8), Array("fe".utf8), [0xFE]]
        let arrivals = ids.enumerated().map { number, id in
            var notification = Sample.notification(UInt64(number + 1))
            notification.collapseID = id
            return notification
        }
        let keys = Keys()
        let queue = PresentationQueue(database, loop: try EventLoop(), presenter: keys, sounds: nil)
        for arrival in arrivals {
            queue.entriesArrived(
                try Receiver(database).receive([.notification(arrival)], now: .unixEpoch).waiting)
        }
        #expect(keys.noted.count == 5)
        #expect(Set(keys.noted).count == 4)
        #expect(keys.noted.first == keys.noted.last)
    }

    @Test func `after a kill between writing and showing, a restart shows the alert`() throws {
        do { _ = try receive([Self.alert], into: file.open()) }
        let database = try file.open()
        let queue = PresentationQueue(database, loop: try EventLoop(), presenter: screen.presenter(), sounds: nil)
        try queue.resume()
        #expect(screen.writeCount == 1)
    }

    @Test func `after a kill while an alert is shown, a restart does not show it again`() throws {
        let dying = DyingPresenter()
        do {
            let database = try file.open()
            let queue = PresentationQueue(database, loop: try EventLoop(), presenter: dying, sounds: nil)
            queue.entriesArrived(try receive([Self.alert, Self.another], into: database))
            #expect(dying.shownCount == 1)
            #expect(try database.inbox.entry(1)?.state == .claimed)
        }
        let database = try file.open()
        let queue = PresentationQueue(database, loop: try EventLoop(), presenter: screen.presenter(), sounds: nil)
        try queue.resume()
        // The state of the first alert is uncertain. The second was never started.
        #expect(screen.writeCount == 1)
        #expect(try database.inbox.entry(1)?.state == .shown)
        #expect(try database.inbox.entry(1)?.reason == "the agent stopped while it was showing this notification")
        #expect(try database.inbox.entry(2)?.state == .shown)
        #expect(try database.outboxLines().filter { $0.hasSuffix("shown") } == ["2 shown"])
    }

    @Test func `after a kill that follows showing, a restart shows nothing again`() throws {
        do {
            let database = try file.open()
            let queue = PresentationQueue(database, loop: try EventLoop(), presenter: screen.presenter(), sounds: nil)
            queue.entriesArrived(try receive([Self.alert], into: database))
        }
        let database = try file.open()
        let queue = PresentationQueue(database, loop: try EventLoop(), presenter: screen.presenter(), sounds: nil)
        try queue.resume()
        #expect(screen.writeCount == 1)
    }

    @Test func `an alert waits until a failed presenter works again`() throws {
        let database = try file.open()
        let queue = PresentationQueue(database, loop: try EventLoop(), presenter: screen.presenter(), sounds: nil)
        screen.isBroken = true
        queue.entriesArrived(try receive([Self.alert, Self.another], into: database))
        #expect(try database.inbox.waiting() == [1, 2])
        screen.isBroken = false
        queue.presenterBecameAvailable()
        #expect(screen.writeCount == 2)
        #expect(try database.inbox.waiting().isEmpty)
    }

    @Test func `without a presenter an alert keeps waiting`() throws {
        let database = try file.open()
        let queue = PresentationQueue(database, loop: try EventLoop(), presenter: nil, sounds: nil)
        queue.entriesArrived(try receive([Self.alert], into: database))
        #expect(try database.inbox.waiting() == [1])
    }

    @Test func `an alert that a full disk blocks is shown once when there is space`() async throws {
        let database = try file.openFillable()
        let loop = try EventLoop()
        let queue = PresentationQueue(database, loop: loop, presenter: screen.presenter(), sounds: nil)
        var failureCount = 0
        queue.onFailure = { _ in failureCount += 1 }
        let waiting = try receive([Self.alert, Self.another], into: database)
        try database.fill(true)
        queue.entriesArrived(waiting)
        #expect(screen.writeCount == 0)
        try await loop.run("it was tried again") { failureCount == 2 }
        try database.fill(false)
        try await loop.run("both are shown") { try database.inbox.waiting().isEmpty && screen.writeCount == 2 }
        #expect(screen.text.contains("Hello") && screen.text.contains("Bye"))
        #expect(try database.outboxLines().suffix(2) == ["1 shown", "2 shown"])
    }

    @Test func `an alert that was shown on a full disk is recorded as shown later`() async throws {
        let database = try file.openFillable()
        let loop = try EventLoop()
        let filling = TerminalPresenter { _ in
            do { try database.fill(true) } catch { return false }
            screen.writeCount += 1
            return true
        }
        let queue = PresentationQueue(database, loop: loop, presenter: filling, sounds: nil)
        queue.entriesArrived(try receive([Self.alert], into: database))
        #expect(try database.inbox.entry(1)?.state == .claimed)
        try database.fill(false)
        try await loop.run("it is written") { try database.inbox.entry(1)?.state == .shown }
        #expect(screen.writeCount == 1)
    }

    @Test func `the switches at the time of showing decide`() throws {
        let database = try file.open()
        let queue = PresentationQueue(database, loop: try EventLoop(), presenter: screen.presenter(), sounds: nil)
        let waiting = try receive([Self.alert], into: database)
        try database.choose(.master, "off")
        queue.entriesArrived(waiting)
        #expect(screen.writeCount == 0)
        #expect(try database.outboxLines() == ["1 delivered", "1 suppressed master-off"])
    }

    @Test func `an unreadable payload is suppressed, and the server is notified immediately`() throws {
        let database = try file.open()
        let queue = PresentationQueue(database, loop: try EventLoop(), presenter: screen.presenter(), sounds: nil)
        var outboxes: [[String]] = []
        queue.onOutcome = { outboxes.append((try? database.outboxLines()) ?? []) }
        let entry = InboxEntry(
            uniqueID: "00000000-0000-4000-8000-000000000007", sequence: 7, appID: "org.example.Mail",
            topic: "org.example.Mail", apnsID: "A", receivedAt: .unixEpoch, acceptedAt: .unixEpoch,
            payload: Array("nonsense".utf8), state: .waiting)
        queue.entriesArrived([try database.inbox.append(entry)])
        #expect(screen.writeCount == 0)
        #expect(try database.inbox.entry(1)?.state == .suppressed)
        #expect(outboxes == [["7 suppressed unreadable"]])
    }

    @Test func `reasons against a sound are checked before the decision`() throws {
        let database = try file.open()
        let ear = Ear()
        var desk = DesktopState()
        let queue = PresentationQueue(
            database, loop: try EventLoop(), presenter: screen.presenter(), sounds: ear, currentDesktopState: { desk })
        var later: (() -> Void)?
        queue.knowsSounds = { body in
            later = body
            return false
        }
        let entries = try receive([#"{"aps":{"alert":"x","sound":"default"}}"#], into: database)
        queue.entriesArrived(entries)
        #expect(try database.inbox.entry(entries[0])?.state == .waiting && ear.heard.isEmpty)
        desk.isRecording = true
        queue.knowsSounds = { _ in true }
        later?()
        let entry = try database.inbox.entry(entries[0])
        #expect(entry?.state == .shown && entry?.effects == "sound:recording alert" && ear.heard.isEmpty)
    }

    @Test func `a sound that was not played is not reported as played`() throws {
        let database = try file.open()
        let ear = Ear()
        ear.answersLater = true
        let queue = PresentationQueue(database, loop: try EventLoop(), presenter: screen.presenter(), sounds: ear)
        let entries = try receive(
            [
                #"{"aps":{"alert":"x","sound":"default"}}"#, #"{"aps":{"sound":"ping"}}"#,
                #"{"aps":{"badge":3,"sound":"ping"}}"#, #"{"aps":{"sound":"pong"}}"#,
            ], into: database)
        queue.entriesArrived(entries)
        for (answer, result) in zip(ear.answers, [SuppressionReason.unavailable, .unavailable, .unavailable, nil]) {
            answer(result)
        }
        let kept = try entries.map { try #require(try database.inbox.entry($0)) }
        #expect(kept.map(\.state) == [.shown, .suppressed, .shown, .shown])
        #expect(
            kept.map(\.effects)
                == ["sound:unavailable alert", "sound:unavailable", "badge sound:unavailable", "sound"])
        #expect(
            try database.outboxLines().suffix(4) == [
                "1 shown", "2 suppressed unavailable", "3 shown badge-only", "4 shown sound-only",
            ])
        let again = try receive([#"{"aps":{"alert":"x","sound":"default"}}"#], into: database, firstNumber: 5)
        #expect(again.isEmpty, "it is a duplicate all the same")
    }

    @Test func `without the sound server's library no sound is reported as played`() throws {
        let database = try file.open()
        let queue = PresentationQueue(database, loop: try EventLoop(), presenter: screen.presenter(), sounds: nil)
        let entries = try receive([#"{"aps":{"alert":"x","sound":"default"}}"#], into: database)
        queue.entriesArrived(entries)
        #expect(try database.inbox.entry(entries[0])?.effects == "sound:unavailable alert")
    }

    @Test func `a sound alone is played without a window, and one with an alert once`() throws {
        let database = try file.open()
        let ear = Ear()
        let queue = PresentationQueue(database, loop: try EventLoop(), presenter: screen.presenter(), sounds: ear)
        queue.entriesArrived(
            try receive([#"{"aps":{"sound":"ping"}}"#, #"{"aps":{"alert":"x","sound":"default"}}"#], into: database))
        #expect(ear.heard == [.named("ping"), .standard])
        #expect(screen.writeCount == 1)
        #expect(try database.outboxLines().suffix(2) == ["1 shown sound-only", "2 shown"])
    }

    @Test(arguments: [0, 1]) func `only the newest of many waiting alerts are shown in turn`(surplus: Int) async throws
    {
        let database = try file.open()
        let loop = try EventLoop()
        let queue = PresentationQueue(database, loop: loop, presenter: screen.presenter(), sounds: nil)
        let count = PresentationQueue.waitingCountMax + surplus
        let payloads = (1...count).map { #"{"aps":{"alert":"number \#($0)."}}"# }
        queue.entriesArrived(try receive(payloads, into: database))
        // The rest of the alerts waits for the next second.
        #expect(screen.writeCount == PresentationQueue.perSecondMax)
        #expect(screen.text.contains("number 1.") == (surplus == 0))
        #expect(try database.inbox.entry(1)?.reason == (surplus == 0 ? "" : "too-many"))
        try await loop.run("the rest is shown") { screen.writeCount == PresentationQueue.waitingCountMax }
        #expect(screen.text.contains("number \(count)."))
    }

    @Test func `an alert that is withdrawn before its turn is not shown`() throws {
        let database = try file.open()
        let queue = PresentationQueue(database, loop: try EventLoop(), presenter: screen.presenter(), sounds: nil)
        screen.isBroken = true
        queue.entriesArrived(try receive([Self.alert, Self.alert], into: database))
        queue.withdraw([2])
        screen.isBroken = false
        queue.presenterBecameAvailable()
        #expect(screen.writeCount == 1)
    }
}
