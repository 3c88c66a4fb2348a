// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushSQLite
@testable import PushStore
import TestSupport
import Testing

@Suite struct TraceRetentionTests {
    private let app = TraceQuery.Subject.app(topic: "com.example.App")

    /// Waits until sweeps have trimmed the trace so that it satisfies a condition.
    private func eventually(
        _ store: TestStore, _ what: String, after: Int64 = 0, _ isEnough: (TraceFindings) -> Bool
    ) throws -> TraceFindings {
        for _ in 0..<10_000 {
            let findings = try store.trace(app, after: after)
            if isEnough(findings) { return findings }
        }
        throw MissingReply(what: what)
    }

    @Test func `events that are too old are removed, and positions never restart`() throws {
        let store = try TestStore {
            $0.traceLifeSeconds = 100
            $0.sweepIntervalMilliseconds = 1
        }
        let (_, token) = try store.registeredDevice()
        try store.accept(.to(token, "a").identified(1))
        // A search writes the events in memory, as a row of its own.
        #expect(try store.trace(app).entries.count == 2)
        store.clock.now += 60_000
        try store.accept(.to(token, "b").identified(2))
        let all = try store.trace(app)
        #expect(all.entries.count == 4 && !all.hasGap)
        store.clock.now += 60_000
        let half = try eventually(store, "one left") { $0.entries.count == 2 }
        #expect(half.entries.allSatisfy { $0.origin?.uniqueID == .unique(2) })
        #expect(try store.trace(app, after: 30).hasGap)
        store.clock.now += 60_000
        #expect(try eventually(store, "none left") { $0.entries.isEmpty }.oldestAt == nil)
        try store.reopen()
        try store.accept(.to(token, "c").identified(3))
        let late = try store.trace(app, after: all.next)
        #expect(late.entries.map(\.text) == ["accepted", "stored"] && !late.hasGap)
        #expect(late.entries.first?.position == all.next)
    }

    @Test func `a trace over its size limit loses its oldest events`() throws {
        let store = try TestStore {
            $0.traceByteCountMax = 20_000
            $0.sweepIntervalMilliseconds = 1
            $0.pendingPerTopicCountMax = 100_000
        }
        let (_, token) = try store.registeredDevice()
        for number in 0..<1000 as Range<UInt64> {
            try store.accept(.to(token, "a").identified(number))
            // A search writes the events in memory, as a row of its own.
            _ = try store.trace(app, limit: 1)
        }
        // The events of a notification take 96 bytes.
        let kept = try eventually(store, "at most 20,000 bytes") { $0.entries.count <= 2 * 209 }
        #expect(kept.entries.count >= 2 * 208)
        #expect(kept.entries.last?.origin?.uniqueID == .unique(999))
        #expect(try store.steps(0) == [])
    }

    @Test func `a clock that jumps removes no recent event`() throws {
        let store = try TestStore { $0.sweepIntervalMilliseconds = 1 }
        let (_, token) = try store.registeredDevice()
        try store.accept(.to(token, "a").identified(1))
        store.clock.now -= 365 * 86_400_000
        try store.accept(.to(token, "b").identified(2))
        for _ in 0..<50 { _ = try store.counts() }
        #expect(try store.steps(1) == ["accepted", "stored"] && store.steps(2) == ["accepted", "stored"])
    }

    @Test func `a disabled trace records and returns nothing, and removes earlier events`() throws {
        let directory = try TemporaryDirectory()
        do {
            let store = try TestStore(in: directory)
            let (_, token) = try store.registeredDevice()
            try store.accept(.to(token, "a").identified(1))
            #expect(try store.steps(1).count == 2)
        }
        let store = try TestStore(in: directory) {
            $0.hasTrace = false
            $0.sweepIntervalMilliseconds = 1
        }
        let query = TraceQuery(.notification(.unique(1)), countMax: 10)
        #expect(try store.refusal(.allDevices(.trace(query))) == .traceOff)
        #expect(
            try store.refusal(.control(.setWebhook(topic: "com.example.App", url: "https://a", secret: [1])))
                == .traceOff)
        try store.accept(.to(try store.register(TestDevice(number: 1)), "b").identified(2))
        for _ in 0..<100 { _ = try store.counts() }
        store.store.stop()
        let connection = try Connection(path: store.path, durability: .full, exclusive: true)
        let select = try connection.prepare("SELECT coalesce(sum(length(events)), 0) FROM trace")
        #expect(try select.step() && select.int64(0) == 0)
    }
}
