// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import TestSupport
import Testing

@Suite struct TraceTests {
    // MARK: A single notification

    @Test func `a notification's trace has every step from its acceptance to the user's click`() throws {
        let store = try TestStore()
        let (device, token) = try store.registeredDevice()
        try store.accept(.to(token, "a").identified(1))
        store.clock.now += 5000
        let (stream, replies) = try store.attach(device)
        let sequence = try #require(replies.delivered(to: stream).first).sequence
        store.clock.now += 100
        try store.report(device, [.init(id: sequence, outcome: .delivered), .init(id: sequence, outcome: .shown)])
        store.clock.now += 60_000
        try store.report(device, [.init(id: sequence, outcome: .viewed)])
        let findings = try store.trace(.notification(.unique(1)))
        #expect(findings.entries.map(\.text) == ["accepted", "stored", "sent", "acknowledged", "shown", "viewed"])
        let times = findings.entries.map { $0.event.at.milliseconds(since: TestStore.start) }
        #expect(times == [0, 0, 5000, 5100, 5100, 65_100])
        #expect(findings.entries.allSatisfy { $0.event.device == device.id && $0.event.sequence == sequence })
        let origin = try #require(findings.entries.first?.origin)
        #expect(origin.uniqueID == .unique(1) && origin.apnsID == .apns(1) && origin.topic == token.topic)
        #expect(try store.trace(.notification(.apns(1))).entries.map(\.event) == findings.entries.map(\.event))
        #expect(try store.steps(2) == [])
    }

    @Test(
        .bothEngines, .namesEngine,
        arguments: [
            (DeviceAPI.Outcome.delivered, nil, nil), (.shown, nil, "shown"), (.shown, "sound-only", "sound-only"),
            (.shown, "badge-only", "shown/badge-only"), (.viewed, nil, "viewed"), (.closed, nil, "closed"),
            (.suppressed, "master-off", "suppressed/master-off"), (.suppressed, nil, "suppressed"),
            (.suppressed, "of an agent by another author", "suppressed/other"),
        ] as [(DeviceAPI.Outcome, String?, String?)])
    func `an outcome is traced as step and reason`(outcome: DeviceAPI.Outcome, reason: String?, text: String?) throws {
        let store = try StoreEngine.open()
        let (device, token) = try store.registeredDevice()
        try store.accept(.to(token, "a").identified(1))
        try store.report(device, [.init(id: 1, outcome: outcome, reason: reason)])
        #expect(try store.steps(1) == ["accepted", "stored", "acknowledged"] + (text.map { [$0] } ?? []))
    }

    @Test func `the trace of an undelivered notification has the reason`() throws {
        let store = try TestStore { $0.pendingPerTopicCountMax = 2 }
        let (device, token) = try store.registeredDevice()
        try store.accept(.to(token, "replaced", collapseID: "x").identified(1))
        try store.accept(.to(token, "dropped", collapseID: "x").identified(2))
        try store.accept(.to(token, "filtered").identified(3))
        try store.accept(.to(token, "filtered").identified(4))
        try store.succeed(.device(.setFilter(refusedTopics: ["com.example.App"]), by: device.credential))
        try store.accept(.to(token, "refused").identified(5))
        try store.succeed(.device(.setFilter(refusedTopics: []), by: device.credential))
        try store.accept(.to(token, "late", expiration: 1).identified(6))
        try store.accept(.to(token, "now or never", expiration: 0).identified(7))
        try store.accept(.to(token, "left").identified(8))
        try store.succeed(.administer(device.id, .remove))
        #expect(try store.steps(1) == ["accepted", "stored", "replaced"])
        #expect(try store.steps(2) == ["accepted", "stored", "dropped/too-many-of-topic"])
        for number in 3...4 as ClosedRange<UInt64> {
            #expect(try store.steps(number) == ["accepted", "stored", "dropped/refused-by-device"])
        }
        #expect(try store.steps(5) == ["accepted", "dropped/refused-by-device"])
        #expect(try store.steps(6) == ["accepted", "expired"])
        #expect(try store.steps(7) == ["accepted", "expired/not-connected"])
        #expect(try store.steps(8) == ["accepted", "stored", "unregistered"])
    }

    @Test func `an expiration while pending and a now-or-never delivery are traced`() throws {
        let store = try TestStore { $0.sweepIntervalMilliseconds = 1 }
        let (device, token) = try store.registeredDevice()
        let expiration = TestStore.startMilliseconds / 1000 + 10
        try store.accept(.to(token, "a", expiration: expiration).identified(1))
        store.clock.now += 20_000
        try waitForStep("expired", of: 1, in: store)
        _ = try store.attach(device)
        try store.accept(.to(token, "b", expiration: 0).identified(2))
        #expect(try store.steps(2) == ["accepted", "sent"])
    }

    private func waitForStep(_ step: String, of number: UInt64, in store: TestStore) throws {
        for _ in 0..<10_000 { if try store.steps(number).last == step { return } }
        throw MissingReply(what: step)
    }

    @Test(.bothEngines, .namesEngine)
    func `a device's reports about another device's notification are not traced`() throws {
        let store = try StoreEngine.open()
        let (_, token) = try store.registeredDevice()
        let other = try store.enrol(2)
        try store.accept(.to(token, "a").identified(1))
        try store.report(other, [.init(id: 1, outcome: .viewed), .init(id: -1, outcome: .viewed)])
        #expect(try store.steps(1) == ["accepted", "stored"])
        #expect(try store.trace(.device(other.id)).entries.isEmpty)
        #expect(try store.trace(.app(topic: "com.example.App")).entries.map(\.text) == ["accepted", "stored"])
    }

    @Test(.bothEngines, .namesEngine)
    func `the trace of an ID that was used twice has both notifications`() throws {
        let store = try StoreEngine.open()
        let (_, token) = try store.registeredDevice()
        try store.accept(.to(token, "a").identified(1))
        try store.accept(.to(token, "b", collapseID: "x").identified(1))
        let entries = try store.trace(.notification(.apns(1))).entries
        #expect(entries.map(\.event.sequence) == [1, 1, 2, 2])
    }

    @Test func `a broadcast's trace has the steps of each device`() throws {
        let store = try TestStore()
        let station = try Station(store)
        let channel = try station.subscribedChannel()
        let other = try station.another(2)
        try store.subscribe(other, to: channel)
        for device in [station.device, other] { _ = try store.attach(device) }
        try store.publish(.to(channel, "a"))
        try store.report(other, [.init(id: 1, outcome: .shown)])
        let id = UniqueID(high: 2, low: .max)
        let entries = try store.trace(.notification(id)).entries
        let texts = entries.map { "\($0.text) \($0.event.device.rawValue)" }
        #expect(texts.prefix(2) == ["accepted 0", "stored 0"])
        #expect(texts.dropFirst(2).prefix(2).sorted() == ["sent 1", "sent 2"])
        #expect(texts.dropFirst(4) == ["acknowledged 2", "shown 2"])
        #expect(try store.trace(.device(other.id)).entries.allSatisfy { $0.origin?.uniqueID == id })
    }

    // MARK: Pages

    @Test(.bothEngines, .namesEngine)
    func `the pages of a device's trace are complete and in order, and can begin at a given time`() throws {
        let store = try StoreEngine.open()
        let (device, token) = try store.registeredDevice()
        let other = try store.register(try store.enrol(2))
        for number in 1...30 as ClosedRange<UInt64> {
            store.clock.now += 1000
            try store.accept(.to(number.isMultiple(of: 3) ? other : token, "a").identified(number))
        }
        let whole = try store.trace(.device(device.id))
        #expect(whole.entries.count == 40 && !whole.isMore)
        var (pages, after) = ([TraceFindings](), Int64(0))
        repeat {
            pages.append(try store.trace(.device(device.id), after: after, limit: 7))
            after = pages[pages.count - 1].next
        } while pages[pages.count - 1].isMore
        #expect(pages.flatMap(\.entries).map(\.position) == whole.entries.map(\.position))
        #expect(pages.dropLast().allSatisfy { $0.entries.count == 7 })
        let since = TestStore.start.advanced(byMilliseconds: 29_000)
        let late = try store.trace(.device(device.id), since: since)
        #expect(late.entries.map(\.text) == ["accepted", "stored"])
        #expect(late.oldestAt == TestStore.start.advanced(byMilliseconds: 1000))
        #expect(try store.trace(.app(topic: "com.example.App")).entries.count == 60)
        #expect(
            try store.refusal(.allDevices(.trace(TraceQuery(.app(topic: "no.such"), countMax: 1)))) == .unknownTopic)
    }

    @Test(.bothEngines, .namesEngine)
    func `a trace continues after a restart and still has the earlier events`() throws {
        let store = try StoreEngine.open()
        let (device, token) = try store.registeredDevice()
        for number in 1...5 as ClosedRange<UInt64> { try store.accept(.to(token, "a").identified(number)) }
        let before = try store.trace(.device(device.id))
        try store.reopen()
        try store.report(device, [.init(id: 3, outcome: .closed)])
        let late = try store.trace(.app(topic: "com.example.App"), after: before.next)
        #expect(late.entries.map(\.text) == ["acknowledged", "closed"])
        #expect(late.entries.allSatisfy { $0.origin?.uniqueID == .unique(3) })
        #expect(try store.steps(3) == ["accepted", "stored", "acknowledged", "closed"])
    }

    @Test func `a search over several steps finds the last event and all events before it`() throws {
        let store = try TestStore { $0.pendingPerTopicCountMax = 100_000 }
        let (device, token) = try store.registeredDevice()
        for batch in 0..<20 as Range<UInt64> {
            _ = try store.accept((0..<500).map { .to(token, "a").identified(batch * 500 + $0) })
        }
        // A size of 920,000 bytes takes four steps.
        #expect(try store.steps(9999) == ["accepted", "stored"])
        var (count, after) = (0, Int64(0))
        while count < 20_000 {
            let page = try store.trace(.device(device.id), after: after)
            #expect(page.isMore == (count < 19_000) && page.entries.count == 1000)
            (count, after) = (count + page.entries.count, page.next)
        }
    }

    @Test func `the first events of many notifications are found, even in distant rows of their own`() throws {
        let store = try TestStore { $0.pendingPerTopicCountMax = 1000 }
        let (device, token) = try store.registeredDevice()
        for number in 1...450 as ClosedRange<UInt64> { try store.accept(.to(token, "a").identified(number)) }
        try store.reopen()
        let before = try store.trace(.notification(.unique(0))).next
        try store.report(device, (1...450).map { .init(id: $0, outcome: .viewed) })
        let entries = try store.trace(.app(topic: "com.example.App"), after: before).entries
        #expect(entries.count == 900)
        #expect(entries.map(\.origin?.uniqueID) == entries.map { .unique(UInt64($0.event.sequence)) })
    }

    @Test func `searches over the maximum of pending ones are refused`() throws {
        let store = try TestStore()
        let (_, token) = try store.registeredDevice()
        try store.accept(.to(token, "a").identified(1))
        let query = TraceQuery(.notification(.unique(1)), countMax: 10)
        let replies = try store.run(
            (0...Limits.traceSearchCountMax).map { _ in .perform(.allDevices(.trace(query)), answer: store.address()) })
        let refused = replies.count { reply in
            if case .performed(.failure(.tooMany), _) = reply { true } else { false }
        }
        #expect(refused == 1)
    }
}
