// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore

/// The waiting notifications of a device that exceed the bounds.
///
/// The bounds are those of `Dispatcher+Bounds.swift`. With PostgreSQL they are applied late: after some notifications
/// were written for the device, and to a limited number of them.
struct TrimmedQueue {
    /// A row of the table `pending`, without its record.
    struct Row {
        var key: Int64
        var id: Int64
        var topic: TopicID
        /// The app's team; empty for a removed app.
        var team: String
        var expiresAt: Timestamp?
    }

    /// A row to delete.
    struct Removal {
        var row: Row
        var reason: RemovalReason
        var detail: TraceDetail
    }

    private(set) var removals: [Removal] = []
    /// The rows that are neither removed nor possibly in flight, in order of their IDs.
    private var rows: [Row]
    private let removalCountMax: Int

    /// Finds the rows that exceed the bounds.
    ///
    /// - Parameters:
    ///   - rows: All rows of the device, in order of their IDs.
    ///   - isAway: Whether the device has had no stream for a while. Otherwise the oldest rows may be in flight, so they
    ///     neither count nor are removed.
    ///   - topicCountMax: The bound of a topic, which applies while the device is away.
    ///   - deviceCountMax: The bound of the device.
    ///   - removalCountMax: The maximum number of rows to remove that have not expired.
    ///   - now: The current time.
    init(
        _ rows: [Row], isAway: Bool, topicCountMax: Int, deviceCountMax: Int, removalCountMax: Int, now: Timestamp
    ) {
        self.rows = isAway ? rows : Array(rows.dropFirst(Limits.unacknowledgedCountMax))
        self.removalCountMax = removalCountMax
        removeExpired(now: now)
        if isAway { keepBound(ofTopics: topicCountMax) }
        while self.rows.count > deviceCountMax, notExpiredCount < removalCountMax, let topic = fullestTopic() {
            removeOldest(of: topic, .deviceBound)
        }
    }

    private var notExpiredCount: Int { removals.count { $0.reason == .dropped } }

    private mutating func removeExpired(now: Timestamp) {
        let expired = rows.filter { $0.expiresAt.map { $0 < now } ?? false }
        removals += expired.map { Removal(row: $0, reason: .expired, detail: .none) }
        rows.removeAll { $0.expiresAt.map { $0 < now } ?? false }
    }

    private mutating func keepBound(ofTopics countMax: Int) {
        let excess = counts { $0.topic }.filter { $0.value > countMax }.sorted { $0.key.rawValue < $1.key.rawValue }
        for (topic, count) in excess {
            for _ in countMax..<count where notExpiredCount < removalCountMax { removeOldest(of: topic, .topicBound) }
        }
    }

    private mutating func removeOldest(of topic: TopicID, _ detail: TraceDetail) {
        guard let index = rows.firstIndex(where: { $0.topic == topic }) else { return }
        removals.append(Removal(row: rows.remove(at: index), reason: .dropped, detail: detail))
    }

    /// Returns the topic with the most rows, of the team with the most rows.
    private func fullestTopic() -> TopicID? {
        let team = counts { $0.team }.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
        let topics = counts { $0.team == team ? $0.topic : nil }
        return topics.max { ($0.value, $0.key.rawValue) < ($1.value, $1.key.rawValue) }?.key
    }

    private func counts<Key: Hashable>(_ key: (Row) -> Key?) -> [Key: Int] {
        var counts: [Key: Int] = [:]
        for row in rows { if let key = key(row) { counts[key, default: 0] += 1 } }
        return counts
    }
}
