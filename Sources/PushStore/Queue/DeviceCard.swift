// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// How many notifications of one topic wait for a device.
struct TopicCount {
    var topic: TopicID
    var count: Int
}

/// A notification that waits and is not settled.
struct QueueEntry {
    let sequence: Int64
    let topic: TopicID
    let collapse: CollapseHash
    /// Until when it waits, UNIX milliseconds; nil where that is not known, or without an expiration.
    var expiresUnixMilliseconds: Int64?
    /// What is to be written; nil when it is a row of the table.
    var unwritten: Unwritten?

    /// Whether it is a row of the table.
    var isWritten: Bool { unwritten == nil }

    /// Whether it waits no more, and is only not deleted yet.
    func isExpired(now: Int64) -> Bool { expiresUnixMilliseconds.map { $0 < now } ?? false }
}

/// What the writer remembers of a device: its registrations, and its queue but for what is settled.
///
/// The settled ones, of which only the counts are here, all came before the recent ones.
final class DeviceCard {
    let device: DeviceID
    /// Registrations by topic, ended ones too; read again when `version` is not that of `DeviceCards`.
    var registrations: [(topic: TopicID, row: RegistrationTable.Row)] = []
    var registrationsVersion: UInt64 = 0
    /// Settled notifications by topic; nil before they were counted.
    var settled: [TopicCount]?
    /// When the first of the settled ones expires, UNIX milliseconds, or earlier; in the distant past when nobody looked.
    var settledNextExpiry = Int64.min
    /// The device's stream, if it was open when `streamsVersion` was that of `Streams`.
    var stream: DeviceStream?
    var streamsVersion: UInt64 = 0
    private(set) var recent = EntryQueue()
    private var recentCounts: [TopicCount] = []

    init(_ device: DeviceID) { self.device = device }

    /// The registration of an app, live or not.
    func registration(of topic: TopicID) -> RegistrationTable.Row? {
        for registration in registrations where registration.topic == topic { return registration.row }
        return nil
    }

    /// Notifications that wait, of all topics.
    var waitingCount: Int { recent.count + settledCount }

    /// Settled notifications of all topics.
    var settledCount: Int {
        var count = 0
        for topic in settled ?? [] { count += topic.count }
        return count
    }

    /// Notifications that wait, of one topic.
    func waitingCount(of topic: TopicID) -> Int {
        count(of: topic, in: recentCounts) + settledCount(of: topic)
    }

    /// Settled notifications of one topic.
    func settledCount(of topic: TopicID) -> Int { count(of: topic, in: settled ?? []) }

    private func count(of topic: TopicID, in counts: [TopicCount]) -> Int {
        for entry in counts where entry.topic == topic { return entry.count }
        return 0
    }

    // MARK: Changing

    /// Adds an entry at the end.
    func append(_ entry: QueueEntry) {
        recent.append(entry)
        change(&recentCounts, entry.topic, by: 1)
    }

    /// Puts an entry back that was removed.
    func restore(_ entry: QueueEntry) {
        recent.insert(entry)
        change(&recentCounts, entry.topic, by: 1)
    }

    /// Removes an entry; nil when it is not here.
    func remove(_ sequence: Int64) -> QueueEntry? {
        guard let entry = recent.remove(sequence) else { return nil }
        change(&recentCounts, entry.topic, by: -1)
        return entry
    }

    /// Notes that an entry is a row now.
    func noteWritten(_ sequence: Int64) { recent.noteWritten(sequence) }

    /// Counts settled ones that came or went; nothing while they were not counted.
    func changeSettled(_ topic: TopicID, by change: Int) {
        guard var counts = settled else { return }
        settled = nil
        self.change(&counts, topic, by: change)
        settled = counts
    }

    private func change(_ counts: inout [TopicCount], _ topic: TopicID, by change: Int) {
        for index in counts.indices where counts[index].topic == topic {
            counts[index].count += change
            if counts[index].count <= 0 { counts.remove(at: index) }
            return
        }
        if change > 0 { counts.append(TopicCount(topic: topic, count: change)) }
    }
}

/// Entries in order of their sequences: added at the end, mostly removed at the front.
struct EntryQueue {
    private var entries: [QueueEntry] = []
    /// Where the first one is; what is before it is gone.
    private var head = 0

    var count: Int { entries.count - head }
    var isEmpty: Bool { count == 0 }
    var first: QueueEntry? { isEmpty ? nil : entries[head] }
    /// All, in order.
    var all: ArraySlice<QueueEntry> { entries[head...] }

    /// Those behind a sequence.
    func after(_ sequence: Int64) -> ArraySlice<QueueEntry> { entries[index(behind: sequence)...] }

    /// The one with a sequence.
    func entry(_ sequence: Int64) -> QueueEntry? { index(of: sequence).map { entries[$0] } }

    mutating func append(_ entry: QueueEntry) { entries.append(entry) }

    mutating func insert(_ entry: QueueEntry) { entries.insert(entry, at: index(behind: entry.sequence)) }

    mutating func remove(_ sequence: Int64) -> QueueEntry? {
        guard let index = index(of: sequence) else { return nil }
        let entry = entries[index]
        if index == head {
            head += 1
            compact()
        } else {
            entries.remove(at: index)
        }
        return entry
    }

    mutating func noteWritten(_ sequence: Int64) {
        if let index = index(of: sequence) { entries[index].unwritten = nil }
    }

    /// Gives back what is before the first one, once that is as much as what is left.
    private mutating func compact() {
        if head == entries.count {
            entries.removeAll(keepingCapacity: entries.capacity <= 16)
            head = 0
        } else if head >= 16, head >= count {
            entries.removeFirst(head)
            head = 0
        }
    }

    private func index(of sequence: Int64) -> Int? {
        let index = index(behind: sequence) - 1
        return index >= head && entries[index].sequence == sequence ? index : nil
    }

    /// The first place behind a sequence.
    private func index(behind sequence: Int64) -> Int {
        guard let first, first.sequence <= sequence else { return head }
        var (low, high) = (head, entries.count)
        while low < high {
            let middle = low + (high - low) / 2
            if entries[middle].sequence <= sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
