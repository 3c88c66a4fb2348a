// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing

@Suite struct DurabilityTests {
    @Test(arguments: StoreDurability.allCases)
    func `accepted notifications survive a clean stop in every durability mode`(_ durability: StoreDurability) throws {
        let store = try TestStore { $0.durability = durability }
        let (device, token) = try store.registeredDevice()
        #expect(try store.accept((0..<50).map { .to(token, "\($0)") }).0.allSatisfy { $0 == .accepted })
        try store.reopen()
        #expect(try store.waiting(device) == (0..<50).map(String.init))
    }

    @Test(arguments: StoreDurability.allCases)
    func `notifications that exceed the window are sent when it has capacity, written or not`(
        _ durability: StoreDurability
    ) throws {
        let store = try TestStore { ($0.durability, $0.pendingPerTopicCountMax) = (durability, 1000) }
        let (device, token) = try store.registeredDevice()
        let (stream, _) = try store.attach(device)
        let count = Limits.unacknowledgedCountMax
        func take(_ what: String) throws -> [PendingNotification] {
            try store.collectors[0].take(what) { $0.delivered(to: stream).count >= count }.delivered(to: stream)
        }
        // A barrier would commit all pending writes, so use none.
        store.store.submit((0..<2 * count).map { .accept(.to(token, "\($0)"), answer: store.address()) })
        let first = try take("a window")
        store.store.submit([.acknowledge(first.map { .init(id: $0.sequence, outcome: .delivered) }, by: device.id)])
        let texts = (first + (try take("another"))).map { String(decoding: $0.notification.payload, as: UTF8.self) }
        #expect(texts == (0..<2 * count).map(String.init))
    }

    @Test func `with relaxed durability the store answers before it writes, and still writes`() throws {
        let store = try TestStore { $0.durability = .relaxed }
        let (device, token) = try store.registeredDevice()
        let answer = store.address()
        store.store.submit([
            .accept(.to(token, "a"), answer: answer),
            .accept(.to(token, "b", collapseID: "x"), answer: store.address()),
            .accept(.to(token, "c", collapseID: "x"), answer: store.address()),
        ])
        let replies = try store.collectors[0].take("three answers") { replies in
            replies.count { if case .accepted = $0 { true } else { false } } >= 3
        }
        #expect(replies.count { $0.answers(answer) } == 1)
        let counts = try store.counts()
        #expect(counts.accepted == 3 && counts.pending == 2 && counts.collapsed == 1)
        #expect(try store.waiting(device) == ["a", "c"])
    }
}
