// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushSQLite
@testable import PushStore
import TestSupport
import Testing

/// Checks that an outcome counts once, and only from the device to which the notification was sent.
@Suite struct OutcomeTests {
    private let topic: TopicName = "com.example.App"

    /// Delivers all waiting notifications to a device and acknowledges them; returns the sequences.
    private func receive(_ device: TestDevice, in store: TestStore) throws -> [Int64] {
        let (stream, replies) = try store.attach(device)
        let sequences = replies.delivered(to: stream).map(\.sequence)
        _ = try store.acknowledge(device, sequences)
        _ = try store.run([.detach(stream: stream)])
        return sequences
    }

    private func traceByteCount(_ store: TestStore) throws -> Int64 {
        store.store.stop()
        let connection = try Connection(path: store.path, durability: .full, exclusive: true)
        let select = try connection.prepare("SELECT max(position + length(events)) FROM trace")
        _ = try select.step()
        return select.int64(0)
    }

    // MARK: Unknown notifications

    @Test func `outcomes of notifications that were not sent to the device only count as glitches`() throws {
        let store = try TestStore()
        let (device, token) = try store.registeredDevice()
        let stranger = try store.enrol(2)
        try store.accept(.to(token, "a").identified(1))
        _ = try receive(device, in: store)
        let before = try store.trace(.notification(.unique(0))).next
        let numbers: [Int64] = [1, 1, 0, -1, 2, 1 << 20, .max, .min]
        for outcome in DeviceAPI.Outcome.allCases {
            try store.report(stranger, numbers.map { .init(id: $0, outcome: outcome) })
        }
        let counts = try store.counts()
        #expect(counts.glitches == numbers.count * DeviceAPI.Outcome.allCases.count)
        #expect(counts.outcomes == ["delivered": 1, "shown": 0, "viewed": 0, "closed": 0, "suppressed": 0])
        #expect(try traceByteCount(store) == before)
    }

    @Test func `each outcome counts once, however often it is reported`() throws {
        let store = try TestStore()
        let (device, token) = try store.registeredDevice()
        try store.accept(.to(token, "a").identified(1))
        let sequence = try #require(try receive(device, in: store).first)
        for _ in 0..<3 {
            try store.report(device, [.init(id: sequence, outcome: .shown), .init(id: sequence, outcome: .viewed)])
        }
        let counts = try store.counts()
        #expect(counts.outcomes["shown"] == 1 && counts.outcomes["viewed"] == 1 && counts.glitches == 4)
        #expect(try store.steps(1) == ["accepted", "stored", "sent", "acknowledged", "shown", "viewed"])
    }

    @Test func `each outcome of a broadcast counts once, and only from a device that received it`() throws {
        let store = try TestStore()
        let station = try Station(store)
        let channel = try station.subscribedChannel()
        let (other, stranger) = (try station.another(2), try store.enrol(3))
        let stream = try store.attach(station.device).0
        let replies = try store.publish([.to(channel, "stored"), .to(channel, "passing", expiration: 0)]).1
        let sequences = replies.delivered(to: stream).map(\.sequence)
        #expect(sequences.count == 2)
        for device in [other, stranger, station.device, station.device] {
            try store.report(
                device,
                sequences.flatMap { [.init(id: $0, outcome: .shown), .init(id: $0, outcome: .viewed)] })
        }
        let counts = try store.counts()
        #expect(counts.outcomes["shown"] == 2 && counts.outcomes["viewed"] == 2 && counts.glitches == 12)
        let told = try store.trace(.app(topic: topic), isForWebhook: true).entries
        #expect(told.map(\.text).sorted() == ["acknowledged", "acknowledged", "shown", "shown", "viewed", "viewed"])
        #expect(told.allSatisfy { $0.event.device == station.device.id })
        #expect(try store.trace(.device(other.id)).entries.isEmpty)
        #expect(try store.trace(.device(stranger.id)).entries.isEmpty)
    }

    @Test func `two million acknowledgements of another device's notifications write nothing`() throws {
        let store = try TestStore()
        let (device, token) = try store.registeredDevice()
        let stranger = try store.enrol(2)
        _ = try store.accept((0..<100).map { .to(token, "\($0)") })
        _ = try receive(device, in: store)
        let before = try store.trace(.notification(.unique(0))).next
        let junk = (0..<1000).map { DeviceAPI.Acknowledgement(id: Int64($0 % 100 + 1), outcome: .viewed) }
        for _ in 0..<100 {
            _ = try store.run((0..<20).map { _ in .acknowledge(junk, by: stranger.id) })
        }
        #expect(try store.counts().glitches == 2_000_000)
        #expect(try traceByteCount(store) == before)
    }

    @Test func `a device that reconnects repeatedly adds at most two sent events to a trace`() throws {
        let store = try TestStore()
        let (device, token) = try store.registeredDevice()
        try store.accept(.to(token, "a").identified(1))
        for _ in 0..<10 { #expect(try store.waiting(device) == ["a"]) }
        #expect(try store.steps(1) == ["accepted", "stored", "sent", "sent"])
    }

    // MARK: Late outcomes

    @Test func `a click counts the next morning, also after a restart of the server`() throws {
        let store = try TestStore()
        let (device, token) = try store.registeredDevice()
        for number in 1...3 as ClosedRange<UInt64> { try store.accept(.to(token, "a").identified(number)) }
        let sequences = try receive(device, in: store)
        try store.report(device, [.init(id: sequences[1], outcome: .shown)])
        try store.reopen()
        store.clock.now += 40_000_000
        for _ in 0..<2 { try store.report(device, sequences.map { .init(id: $0, outcome: .shown) }) }
        try store.report(device, [.init(id: sequences[1], outcome: .viewed)])
        #expect(try store.steps(2) == ["accepted", "stored", "sent", "acknowledged", "shown", "viewed"])
        #expect(try store.counts().outcomes["shown"] == 2 && store.counts().glitches == 4)
    }

    @Test func `a notification that was replaced after it was sent can still be reported as shown`() throws {
        let store = try TestStore()
        let (device, token) = try store.registeredDevice()
        let (stream, _) = try store.attach(device)
        let replies = try store.accept([.to(token, "old", collapseID: "x").identified(1)]).1
        let sequence = try #require(replies.delivered(to: stream).first).sequence
        try store.accept(.to(token, "new", collapseID: "x").identified(2))
        try store.report(device, [.init(id: sequence, outcome: .shown)])
        #expect(try store.steps(1).suffix(2) == ["replaced", "shown"])
    }

    @Test(.bothEngines, .namesEngine)
    func `an acknowledgement of a pending notification counts even without a record that it was sent`() throws {
        let store = try StoreEngine.open()
        let (device, token) = try store.registeredDevice()
        try store.accept(.to(token, "a").identified(1))
        try store.report(device, [.init(id: 1, outcome: .shown)])
        #expect(try store.waiting(device) == [])
        #expect(try store.steps(1) == ["accepted", "stored", "acknowledged", "shown"])
    }

    @Test(arguments: [(8, 8), (9, 8), (100, 8)])
    func `outcomes of the oldest notifications over the limit are ignored`(count: Int, bound: Int) throws {
        let store = try TestStore { $0.deliveryHistoryCountMax = bound }
        let (device, token) = try store.registeredDevice()
        var sequences: [Int64] = []
        for number in 0..<count {
            try store.accept(.to(token, "\(number)"))
            sequences += try receive(device, in: store)
        }
        try store.reopen()
        try store.report(device, sequences.map { .init(id: $0, outcome: .viewed) })
        let viewed = try store.counts().outcomes["viewed"] ?? 0
        // Up to a quarter more is kept before the history is trimmed.
        #expect(viewed >= min(count, bound) && viewed <= min(count, bound + bound / 4))
        try store.report(device, sequences.suffix(1).map { .init(id: $0, outcome: .closed) })
        #expect(try store.counts().outcomes["closed"] == 1)
    }

    @Test func `one team's notifications do not evict another team's from the history`() throws {
        let store = try TestStore { $0.deliveryHistoryCountMax = 20 }
        let (device, token) = try store.registeredDevice()
        try store.succeed(.control(.addApp(topic: "com.example.Loud", name: "Loud", teamID: "LOUD000000")))
        let loud = try store.register(device, "com.example.Loud")
        _ = try store.accept((0..<5).map { .to(token, "\($0)") })
        let sequences = try receive(device, in: store)
        for _ in 0..<10 {
            _ = try store.accept((0..<10).map { .to(loud, "\($0)") })
            _ = try receive(device, in: store)
        }
        try store.report(device, sequences.map { .init(id: $0, outcome: .viewed) })
        #expect(try store.counts().outcomes["viewed"] == 5 && store.counts().glitches == 0)
    }

    @Test func `the history of a device that was evicted from memory is read again`() throws {
        // The bound is enough for 11 devices.
        let store = try TestStore { $0.deliveryHistoryInAllCountMax = 100 }
        try store.addApp()
        let devices = try (1...30).map { try store.enrol($0) }
        var sequences: [Int64] = []
        for device in devices {
            try store.accept(.to(try store.register(device), "a"))
            sequences += try receive(device, in: store)
        }
        for _ in 0..<2 {
            for (device, sequence) in zip(devices, sequences) {
                try store.report(device, [.init(id: sequence, outcome: .viewed)])
            }
        }
        let counts = try store.counts()
        #expect(counts.outcomes["viewed"] == 30 && counts.glitches == 30)
    }

    @Test func `removing a device removes its history`() throws {
        let store = try TestStore()
        let (device, token) = try store.registeredDevice()
        try store.accept(.to(token, "a"))
        _ = try receive(device, in: store)
        try store.reopen()
        try store.succeed(.administer(device.id, .remove))
        store.store.stop()
        let connection = try Connection(path: store.path, durability: .full, exclusive: true)
        let select = try connection.prepare("SELECT count(*) FROM delivery_histories")
        #expect(try select.step() && select.int64(0) == 0)
    }
}
