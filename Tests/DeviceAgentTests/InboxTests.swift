// SPDX-License-Identifier: Apache-2.0

import PushSQL
@testable import AgentStore
@testable import DeviceAgent
import PushAPI
import PushCore
import PushSQLite
import Testing

@Suite struct InboxTests {
    private let file: DatabaseFile
    private let database: AgentDatabase

    init() throws {
        file = try DatabaseFile()
        database = try file.open()
        try database.apps.save(Sample.app)
    }

    @discardableResult
    private func receive(
        _ payloads: String..., from number: UInt64 = 1, at now: Int64 = 0, expiration: Int64? = nil
    ) throws -> ReceptionResult {
        let arrivals = payloads.enumerated().map { index, payload in
            var notification = Sample.notification(number + UInt64(index), payload: payload)
            notification.expiration = expiration.map(Timestamp.init(unixSeconds:))
            return Arrival.notification(notification)
        }
        return try Receiver(database).receive(arrivals, now: Timestamp(unixMilliseconds: now))
    }

    private func search(_ text: String, _ change: (inout InboxSearch.Query) -> Void = { _ in }) throws -> [EntryID] {
        var query = InboxSearch.Query()
        query.text = text
        change(&query)
        return try database.search.entries(matching: query, appNames: [Sample.app.appID: Sample.app.name])
            .map(\.entry)
    }

    @Test(arguments: [false, true])
    func `clearing reports only entries that still waited, as cleared`(isByNumber: Bool) throws {
        try receive(#"{"aps":{"alert":"waits"}}"#, #"{"aps":{"badge":1}}"#)
        let removed = try database.transaction { () throws(SQLError) in
            try isByNumber ? database.removeInboxEntries([1, 2]) : database.clearInbox(appID: Sample.app.appID)
        }
        #expect(Set(removed) == [1, 2])
        #expect(try database.outboxLines().filter { $0.contains("cleared") } == ["1 suppressed cleared"])
        #expect(try database.inbox.newest(countMax: 10).isEmpty)
    }

    // MARK: Late and repeated notifications

    @Test(arguments: [(Int64(99), true), (100, true), (101, false), (0, false)])
    func `a notification that had expired on arrival is kept, and neither shown nor counted`(
        expiration: Int64, isExpired: Bool
    ) throws {
        let reception = try receive(
            #"{"aps":{"alert":"x","badge":3,"sound":"default"}}"#, at: 100_500, expiration: expiration)
        let entry = try #require(try database.inbox.entry(1))
        #expect(reception.waiting.isEmpty == isExpired && reception.badges.isEmpty == isExpired)
        #expect(entry.state == (isExpired ? .suppressed : .waiting))
        #expect(entry.effects == (isExpired ? "badge:expired sound:expired alert:expired" : "badge sound alert"))
        #expect(try database.apps.app(id: Sample.app.appID)?.badge == (isExpired ? 0 : 3))
        #expect(try database.outboxLines().contains("1 suppressed expired") == isExpired)
    }

    @Test(arguments: [(Int64(100_500), true), (100_000, true), (99_999, false), (0, false)])
    func `an alert that is expired only by the device's clock is shown`(serverNow: Int64, isExpired: Bool) throws {
        var notification = Sample.notification(1)
        notification.expiration = Timestamp(unixSeconds: 100)
        let reception = try Receiver(database).receive(
            [.notification(notification)], now: Timestamp(unixMilliseconds: 3_600_000),
            serverNow: Timestamp(unixMilliseconds: serverNow))
        #expect(reception.waiting.isEmpty == isExpired)
    }

    @Test func `the server's time comes from the notification with the least delay`() {
        var clock = ServerClock()
        #expect(clock.time(atElapsedMilliseconds: 5) == nil)
        clock.note(acceptedAt: Timestamp(unixMilliseconds: 1_000_000), atElapsedMilliseconds: 100)
        #expect(clock.time(atElapsedMilliseconds: 100)?.unixMilliseconds == 1_000_000)
        clock.note(acceptedAt: Timestamp(unixMilliseconds: 1_000_500), atElapsedMilliseconds: 200)
        clock.note(acceptedAt: Timestamp(unixMilliseconds: 1_000_001), atElapsedMilliseconds: 300)
        #expect(clock.time(atElapsedMilliseconds: 300)?.unixMilliseconds == 1_000_600)
        clock.note(acceptedAt: .distantFuture, atElapsedMilliseconds: -1)
        clock.note(acceptedAt: .distantPast, atElapsedMilliseconds: 1)
        #expect(clock.time(atElapsedMilliseconds: 0) != nil)
    }

    @Test func `the same texts within a second are one alert, and the second badge counts`() throws {
        let first = #"{"aps":{"alert":{"title":"T","body":"B"},"badge":1}}"#
        let second = #"{"aps":{"alert":{"body":"B","title":"T"},"badge":2}}"#
        #expect(try receive(first, second).waiting == [1])
        #expect(try database.inbox.entry(2)?.reason == "duplicate")
        #expect(try database.inbox.entry(2)?.effects == "badge alert:duplicate")
        #expect(try database.apps.app(id: Sample.app.appID)?.badge == 2)
        #expect(try receive(first, from: 3, at: 1001).waiting == [3])
        #expect(try receive(first, from: 4, at: 2001).waiting.isEmpty)
        #expect(try receive(first, from: 5, at: -2001).waiting == [5], "the clock went back, and this is a new one")
    }

    @Test func `the same texts with other custom data are another notification`() throws {
        let texts = #""aps":{"alert":"New message","badge":1}"#
        let payloads = ["{\(texts)}", "{\(texts),\"mail\":1}", "{\"mail\":2,\(texts)}", "{\"mail\":1,\(texts)}"]
        #expect(try receive(payloads[0], payloads[1]).waiting == [1, 2])
        #expect(try receive(payloads[2], payloads[3], from: 3).waiting == [3])
        #expect(try database.inbox.entry(4)?.reason == "duplicate")
    }

    /// Payloads with the same texts, of which the second differs in level, sound or thread.
    @Test(arguments: [
        (#""interruption-level":"passive""#, #""interruption-level":"time-sensitive""#), ("", #""sound":"default""#),
        (#""sound":"bell""#, #""sound":"alarm""#), (#""thread-id":"anna""#, #""thread-id":"bob""#),
        (#""category":"A""#, #""category":"B""#),
    ])
    func `the same texts at another level, with another sound or of another thread are shown`(
        first: String, second: String
    ) throws {
        let payloads = [first, second].map { #"{"aps":{"alert":"x"\#($0.isEmpty ? "" : ",")\#($0)}}"# }
        #expect(try receive(payloads[0], payloads[1]).waiting == [1, 2])
        #expect(try receive(payloads[1], from: 3).waiting.isEmpty)
    }

    @Test func `a notification with blank texts has nothing to show`() throws {
        #expect(try receive(#"{"aps":{"alert":{"title":"   ","body":"\n\n"}}}"#).waiting.isEmpty)
        #expect(try database.inbox.entry(1)?.reason == "nothing-to-show")
    }

    @Test func `a suppressed notification has no duplicate`() throws {
        try database.choose(.doNotDisturb, "on")
        #expect(try receive(#"{"aps":{"alert":"Fire","badge":1}}"#).waiting.isEmpty)
        try database.choose(.doNotDisturb, "off")
        #expect(try receive(#"{"aps":{"alert":"Fire","badge":1}}"#, from: 2).waiting == [2])
        #expect(try receive(#"{"aps":{"alert":"Fire","badge":1}}"#, from: 3).waiting.isEmpty)
    }

    @Test func `a silenced sound does not count as the same as a played one`() throws {
        try database.choose(.silent, "on")
        #expect(try receive(#"{"aps":{"alert":"x","sound":"default"}}"#).waiting == [1])
        try database.choose(.silent, "off")
        #expect(try receive(#"{"aps":{"alert":"x","sound":"default"}}"#, from: 2).waiting == [2])
    }

    @Test func `other texts, and texts of an answered or suppressed notification, are not duplicates`() throws {
        #expect(try receive(#"{"aps":{"alert":"x"}}"#, #"{"aps":{"alert":"y"}}"#).waiting == [1, 2])
        _ = try database.inbox.move(1, from: [.waiting], to: .viewed)
        try database.suppress(2, .tooMany)
        #expect(try receive(#"{"aps":{"alert":"x"}}"#, #"{"aps":{"alert":"y"}}"#, from: 3).waiting == [3, 4])
        #expect(try receive(#"{"aps":{"badge":1}}"#, #"{"aps":{"badge":1}}"#, from: 5).arrived == [5, 6])
        #expect(try database.inbox.entry(6)?.state == .shown)
    }

    // MARK: How long entries are kept

    @Test func `an entry older than the set number of days is removed, unless it is still pending`() throws {
        try database.choose(.inboxDays, "2")
        let day: Int64 = 24 * 3600 * 1000
        try receive("{}", #"{"aps":{"alert":"x"}}"#, "{}", at: day)
        try receive("{}", from: 4, at: 2 * day)
        #expect(try receive("{}", from: 5, at: 3 * day + 1).removed == [1, 3])
        #expect(try receive("{}", from: 6, at: 9 * day).removed == [4, 5])
        #expect(try database.inbox.newest(countMax: 9).map(\.entry) == [6, 2])
    }

    @Test func `a clock that jumps ahead removes no entry until a day has passed`() throws {
        let day: Int64 = 24 * 3600 * 1000
        try receive("{}", at: day)
        let year = 400 * day
        for now in [year, year + 1000, 2 * year, day, year + 1, year + day - 1000] {
            #expect(try receive("{}", from: UInt64(now), at: now).removed.isEmpty, "\(now)")
        }
        #expect(try receive("{}", from: 2, at: year + day + 1).removed.contains(1))
    }

    @Test(arguments: [0, 20_000] as [Int64]) func `an entry that arrived under a wrong clock has the server's age`(
        wrongDay: Int64
    ) throws {
        let day: Int64 = 24 * 3600 * 1000
        let receiver = Receiver(database)
        func receive(_ number: UInt64, acceptedAt accepted: Int64, at now: Int64) throws -> [EntryID] {
            let notification = Sample.notification(number, acceptedMilliseconds: accepted, payload: "{}")
            return try receiver.receive([.notification(notification)], now: Timestamp(unixMilliseconds: now)).removed
        }
        _ = try receive(1, acceptedAt: 10_000 * day, at: wrongDay * day)
        try database.state.set(.clockTrustedAt, to: 10_000 * day / 1000)
        #expect(try receive(2, acceptedAt: 10_001 * day, at: 10_001 * day) == [])
        try database.state.set(.clockTrustedAt, to: 10_030 * day / 1000)
        #expect(try receive(3, acceptedAt: 10_030 * day, at: 10_030 * day) == [])
        #expect(try receive(4, acceptedAt: 10_031 * day, at: 10_030 * day + 1) == [1])
    }

    // MARK: Seen

    @Test(arguments: [
        (#"{"aps":{"badge":3}}"#, true), (#"{"aps":{"badge":0,"sound":"default"}}"#, true), ("{}", true),
        (#"{"aps":{"alert":"x","badge":3}}"#, false), (#"{"aps":"#, false),
    ])
    func `only a notification with an alert is unread`(payload: String, isRead: Bool) throws {
        try receive(payload)
        #expect(try database.inbox.entry(1)?.isRead == isRead)
    }

    @Test func `entries that were seen, answered or have no alert are not unread`() throws {
        try receive(#"{"aps":{"alert":"a"}}"#, #"{"aps":{"alert":"b"}}"#, #"{"aps":{"alert":"c"}}"#, "{}")
        #expect(try database.inbox.unreadCounts().map(\.count) == [3])
        _ = try database.inbox.move(1, from: [.waiting], to: .closed)
        #expect(try database.inbox.unreadCounts().map(\.count) == [2])
        #expect(try database.inbox.markRead(2, appID: nil) == 1)
        #expect(try database.inbox.markRead(2, appID: nil) == 0)
        #expect(try database.inbox.markRead(nil, appID: "org.example.Other") == 0)
        #expect(try database.inbox.markRead(nil, appID: Sample.app.appID) == 1)
        #expect(try database.inbox.unreadCounts().isEmpty)
        #expect(try database.inbox.entry(2)?.isRead == true)
    }

    // MARK: Searching

    @Test func `a search matches all words, in any case and script, in texts or in the app's name`() throws {
        try receive(
            #"{"aps":{"alert":{"title":"Anna","subtitle":"Привет","body":"Lunch at 100%?"}}}"#,
            #"{"aps":{"alert":"ÄPFEL und Birnen"}}"#)
        #expect(try search("anna LUNCH") == [1])
        #expect(try search("anna dinner").isEmpty)
        #expect(try search("ПРИВЕТ") == [1])
        #expect(try search("äpfel") == [2])
        #expect(try search("100%") == [1])
        #expect(try search("example mail") == [2, 1])
        #expect(try search(" ") == [2, 1])
    }

    @Test(arguments: [
        ("Caf\u{E9}", "cafe\u{301}"), ("Cafe\u{301}", "CAF\u{C9}"), ("Vie\u{323}\u{302}t", "vi\u{1EC7}t"),
        ("\u{419}", "\u{438}\u{306}"), ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"), ("\u{304C}", "\u{304B}\u{3099}"),
        ("\u{212B}ngstr\u{F6}m", "a\u{30A}ngstro\u{308}m"), ("\u{10400}", "\u{10428}"), ("\u{FF21}", "\u{FF41}"),
    ])
    func `a search finds canonically equivalent texts, composed or not`(text: String, query: String) throws {
        try receive(#"{"aps":{"alert":"see \#(text)!"}}"#, #"{"aps":{"alert":"see e a o i \u00ff"}}"#)
        #expect(try search(query) == [1])
        #expect(try search(text) == [1])
    }

    @Test func `pages follow each other, for one app or for new entries`() throws {
        for number in 1...7 { try receive(#"{"aps":{"alert":"x \#(number)"}}"#, from: UInt64(number)) }
        #expect(try search("x") { $0.countMax = 3 } == [7, 6, 5])
        #expect(try search("x") { ($0.countMax, $0.before) = (3, 5) } == [4, 3, 2])
        #expect(try search("") { $0.appID = "org.example.Other" }.isEmpty)
        _ = try database.inbox.markRead(6, appID: nil)
        #expect(try search("") { ($0.kind, $0.countMax) = (.unread, 2) } == [7, 5])
    }

    @Test func `counts include entries beyond one page`() throws {
        let count = InboxTable.answerCountMax + 1
        try database.choose(.inboxCount, "2000")
        let arrivals = (1...UInt64(count)).map { Arrival.notification(Sample.notification($0)) }
        _ = try Receiver(database).receive(arrivals, now: .unixEpoch)
        var query = InboxSearch.Query()
        query.countMax = .max
        #expect(
            try database.search.numbers(matching: query, appNames: [:]).map(\.entry.rawValue) == (1...count).reversed())
        #expect(try database.search.entries(matching: query, appNames: [:]).count == InboxTable.answerCountMax)
    }

    @Test func `suppressed entries can be listed alone, page by page`() throws {
        for number in 1...4 { try receive(#"{"aps":{"alert":"x \#(number)"}}"#, from: UInt64(number)) }
        for number: EntryID in [1, 3] {
            _ = try database.inbox.move(number, from: [.waiting], to: .suppressed, reason: "quiet")
        }
        for number: EntryID in [2, 4] { _ = try database.inbox.move(number, from: [.waiting], to: .shown) }
        try database.inbox.setEffects("badge alert", of: 4)
        #expect(try search("") { $0.kind = .suppressed } == [3, 1])
        // The badge was shown, but the alert was not.
        try database.inbox.setEffects("badge alert:do-not-disturb", of: 2)
        #expect(try search("") { $0.kind = .suppressed } == [3, 2, 1])
        try database.inbox.setEffects("badge", of: 2)
        #expect(try search("x") { ($0.kind, $0.before) = (.suppressed, 3) } == [1])
        #expect(try search("y") { $0.kind = .suppressed }.isEmpty)
    }
}
