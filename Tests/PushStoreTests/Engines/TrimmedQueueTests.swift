// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import Testing

@testable import PushStore

struct TrimmedQueueTests {
    private let now = Timestamp(unixMilliseconds: 1_000)

    /// Returns rows with ascending IDs, each of a topic and that topic's team.
    private func rows(_ topics: [UInt32], teams: [UInt32: String] = [:], expired: Set<Int64> = []) -> [TrimmedQueue.Row]
    {
        zip(Int64(1)..., topics).map { id, topic in
            .init(
                key: id, id: id, topic: TopicID(rawValue: topic), team: teams[topic] ?? "T",
                expiresAt: expired.contains(id) ? Timestamp(unixMilliseconds: 999) : nil)
        }
    }

    private func trim(
        _ rows: [TrimmedQueue.Row], isAway: Bool = true, topic: Int = .max, device: Int = .max, removals: Int = .max
    ) -> [TrimmedQueue.Removal] {
        TrimmedQueue(
            rows, isAway: isAway, topicCountMax: topic, deviceCountMax: device, removalCountMax: removals, now: now
        ).removals
    }

    @Test func `the oldest of each topic are removed while the device is away, and nothing within the bounds`() {
        let rows = rows([1, 2, 1, 1, 2, 1])
        let removals = trim(rows, topic: 2)
        #expect(removals.map(\.row.id) == [1, 3])
        #expect(removals.allSatisfy { $0.reason == .dropped && $0.detail == .topicBound })
        #expect(trim(rows, topic: 4, device: 6).isEmpty)
    }

    @Test func `the team with the most loses the oldest of its fullest topic`() {
        let removals = trim(rows([1, 2, 3, 2, 3, 3, 1], teams: [1: "A", 2: "B", 3: "B"]), device: 5)
        #expect(removals.map(\.row.id) == [3, 5])
        #expect(removals.allSatisfy { $0.reason == .dropped && $0.detail == .deviceBound })
    }

    @Test func `expired notifications are removed first`() {
        let removals = trim(rows([1, 1, 1, 1], expired: [2, 4]), topic: 1)
        #expect(removals.map(\.row.id) == [2, 4, 1])
        #expect(removals.map(\.reason) == [.expired, .expired, .dropped])
    }

    @Test func `of a connected device, the rows that may be in flight stay, and only its own bound applies`() {
        let rows = rows(Array(repeating: 1, count: Limits.unacknowledgedCountMax + 5))
        let first = Int64(Limits.unacknowledgedCountMax) + 1
        #expect(trim(rows, isAway: false, topic: 1, device: 3).map(\.row.id) == [first, first + 1])
        #expect(trim(rows, isAway: false, topic: 1, device: 5).isEmpty)
    }

    @Test func `a limited number is dropped at once`() {
        let removals = trim(rows([1, 1, 1, 1, 1], expired: [1]), topic: 1, device: 1, removals: 2)
        #expect(removals.map(\.row.id) == [1, 2, 3])
    }
}
