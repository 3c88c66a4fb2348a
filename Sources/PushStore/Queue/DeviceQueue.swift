// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// A pending notification that is not archived in the `archived` table.
struct QueueEntry {
    let sequence: Int64
    let topic: TopicID
    let collapse: CollapseHash
    /// The expiration; nil if it is unknown, or without an expiration.
    var expiresAt: Timestamp?
    /// The pending write; nil if the notification is a row of the table.
    var pendingWrite: PendingWrite?

    var isWritten: Bool { pendingWrite == nil }

    /// Returns whether the notification has expired and only its deletion is missing.
    func isExpired(now: Timestamp) -> Bool { expiresAt.map { $0 < now } ?? false }
}

/// The writer's record of a device: its registrations, its stream, and the part of its queue that is not archived.
///
/// The archived notifications are only counted here. All of them precede the recent ones.
final class DeviceQueue {
    let device: DeviceID
    /// The registrations by topic, including ended ones; read again when the version differs from that of
    /// `DeviceQueues`.
    var registrations: [(topic: TopicID, row: RegistrationTable.Row)] = []
    var registrationsVersion: UInt64 = 0
    /// The number of archived notifications by topic; nil until they are counted.
    var archived: [TopicCount]?
    /// The number of archived rows that are no longer counted but whose deletion is not committed.
    var archivedDeletionCount = 0
    /// A lower bound of the earliest expiration among the archived notifications; minimal until it is read.
    var archiveNextExpiry = Timestamp.distantPast
    /// The device's open stream; nil while the device is disconnected.
    var stream: DeviceStream?
    /// The time at which the last stream closed, or the server started again after the device had one; nil if unknown.
    var leftAt: Timestamp?
    /// The channels in `SubscriberIndex` that the device subscribes to; empty while it is disconnected.
    var channels: Set<ChannelNumber> = []
    private(set) var recent = EntryQueue()
    private var recentCounts: [TopicCount] = []

    init(_ device: DeviceID) { self.device = device }

    /// Returns the registration of an app, live or ended.
    func registration(of topic: TopicID) -> RegistrationTable.Row? {
        for registration in registrations where registration.topic == topic { return registration.row }
        return nil
    }

    /// The number of pending notifications of all topics.
    var pendingCount: Int { recent.count + archivedCount }

    /// The number of archived notifications of all topics.
    var archivedCount: Int {
        var count = 0
        for topic in archived ?? [] { count += topic.count }
        return count
    }

    /// Returns the number of pending notifications of one topic.
    func pendingCount(of topic: TopicID) -> Int {
        count(of: topic, in: recentCounts) + archivedCount(of: topic)
    }

    /// The number of pending notifications by topic.
    var pendingCounts: [TopicID: Int] {
        var counts: [TopicID: Int] = [:]
        for entry in recentCounts + (archived ?? []) { counts[entry.topic, default: 0] += entry.count }
        return counts
    }

    /// Returns the number of archived notifications of one topic.
    func archivedCount(of topic: TopicID) -> Int { count(of: topic, in: archived ?? []) }

    private func count(of topic: TopicID, in counts: [TopicCount]) -> Int {
        for entry in counts where entry.topic == topic { return entry.count }
        return 0
    }

    // MARK: Changing

    /// Appends an entry.
    func append(_ entry: QueueEntry) {
        recent.append(entry)
        change(&recentCounts, entry.topic, by: 1)
    }

    /// Inserts a removed entry again at its place.
    func restore(_ entry: QueueEntry) {
        recent.insert(entry)
        change(&recentCounts, entry.topic, by: 1)
    }

    /// Removes an entry; returns nil if it is not in the recent part.
    func remove(_ sequence: Int64) -> QueueEntry? {
        guard let entry = recent.remove(sequence) else { return nil }
        change(&recentCounts, entry.topic, by: -1)
        return entry
    }

    /// Records that an entry is now a row of the table.
    func noteWritten(_ sequence: Int64) { recent.noteWritten(sequence) }

    /// Adjusts the count of archived notifications; does nothing until they are counted.
    func changeArchived(_ topic: TopicID, by change: Int) {
        guard var counts = archived else { return }
        archived = nil
        self.change(&counts, topic, by: change)
        archived = counts
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

/// Entries in the order of their sequences.
///
/// Most are added at the end and removed at the front.
struct EntryQueue {
    private var entries: [QueueEntry] = []
    /// The index of the first entry; the elements before it are removed.
    private var head = 0

    var count: Int { entries.count - head }
    var isEmpty: Bool { count == 0 }
    var first: QueueEntry? { isEmpty ? nil : entries[head] }
    var all: ArraySlice<QueueEntry> { entries[head...] }

    /// Returns the entries after a sequence.
    func after(_ sequence: Int64) -> ArraySlice<QueueEntry> { entries[index(behind: sequence)...] }

    /// Returns the entry with a sequence.
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
        if let index = index(of: sequence) { entries[index].pendingWrite = nil }
    }

    /// Frees the removed elements once they are at least as many as the remaining ones.
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

    /// Returns the first index after a sequence.
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
