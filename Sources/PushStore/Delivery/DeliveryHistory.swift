// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushNet

/// The notifications that were sent to one device, and the outcomes that the device reported for each.
///
/// An acknowledgement of any other number is ignored, and each outcome counts once. See
/// docs/decisions/0026-outcomes-of-what-was-delivered.md.
package final class DeliveryHistory {
    package typealias Entry = DeliveryHistoryTable.Entry
    package typealias Marks = DeliveryHistoryTable.Marks

    /// The entries of a device.
    package struct Copy: Sendable {
        package var device: DeviceID
        package var entries: [Entry]
    }

    package enum Sending {
        case first, second, further
    }

    package let device: DeviceID
    /// The entries, ascending by sequence.
    package private(set) var entries: [Entry] = []
    /// Whether `entries` include those of the table, besides those that this process added.
    private(set) var isLoaded = false
    /// The time of the first unwritten change; nil without one.
    package var changedSince: MonotonicTime?
    /// Whether `DeliveryHistories` evicted the history, so that references to it must be dropped.
    var isEvicted = false

    package init(_ device: DeviceID) { self.device = device }

    /// Adds a notification that is sent; returns how often it was sent, as far as this history knows.
    ///
    /// A notification that is sent again waits for an acknowledgement again.
    ///
    /// - Parameters:
    ///   - sequence: The notification's sequence.
    ///   - topic: The notification's topic.
    ///   - isBroadcast: Whether it is a copy of a broadcast.
    /// - Returns: Whether it was sent for the first time, the second time, or more often.
    package func noteSent(_ sequence: Int64, _ topic: TopicID, isBroadcast: Bool) -> Sending {
        let entry = Entry(sequence: sequence, topic: topic, marks: isBroadcast ? .broadcast : [])
        guard let last = entries.last, last.sequence >= sequence else {
            entries.append(entry)
            return .first
        }
        let index = firstIndex(notBefore: sequence)
        guard entries[index].sequence == sequence else {
            entries.insert(entry, at: index)
            return .first
        }
        entries[index].marks.remove(.acknowledged)
        return entries[index].marks.update(with: .sentAgain) == nil ? .second : .further
    }

    /// Returns the index of a notification; nil if it was not sent to this device, or was sent too long ago.
    package func index(of sequence: Int64) -> Int? {
        guard let last = entries.last, last.sequence >= sequence else { return nil }
        let index = firstIndex(notBefore: sequence)
        return entries[index].sequence == sequence ? index : nil
    }

    /// Adds marks to the notification at an index that `index(of:)` returned.
    package func mark(_ index: Int, _ marks: Marks) { entries[index].marks.formUnion(marks) }

    /// Merges the entries of the table with those that this process added.
    package func load(_ stored: [Entry]) {
        isLoaded = true
        guard !stored.isEmpty else { return }
        guard let last = stored.last, let first = entries.first else { return entries = stored }
        guard first.sequence <= last.sequence else { return entries = stored + entries }
        var bySequence: [Int64: Entry] = [:]
        for entry in stored { bySequence[entry.sequence] = entry }
        for var entry in entries {
            // A notification that was sent again keeps its outcomes but loses its acknowledgement.
            if let older = bySequence[entry.sequence] { entry.marks.formUnion(older.marks.intersection(.outcomes)) }
            bySequence[entry.sequence] = entry
        }
        entries = bySequence.values.sorted { $0.sequence < $1.sequence }
    }

    /// A copy that a worker adds to the row of the device.
    package var copy: Copy { Copy(device: device, entries: entries) }

    /// Adds the entries and the marks that another node knows.
    ///
    /// An acknowledgement stays, because the device has the notification even if it is sent again.
    func merge(_ known: [Entry]) {
        var bySequence: [Int64: Entry] = [:]
        for entry in entries + known {
            let older = bySequence[entry.sequence]?.marks ?? []
            bySequence[entry.sequence] = Entry(
                sequence: entry.sequence, topic: entry.topic, marks: entry.marks.union(older))
        }
        entries = bySequence.values.sorted { $0.sequence < $1.sequence }
    }

    /// Removes old entries, first those of the teams with the most entries.
    ///
    /// A team's notifications never evict those of a team that has fewer, because each team may keep an equal share.
    ///
    /// - Parameters:
    ///   - countMax: The number of entries to keep.
    ///   - team: Returns the team of a topic.
    /// - Returns: The number of removed entries.
    package func trim(to countMax: Int, team: (TopicID) -> Int) -> Int {
        let excess = entries.count - countMax
        guard excess > 0 else { return 0 }
        var counts: [Int: Int] = [:]
        for entry in entries { counts[team(entry.topic), default: 0] += 1 }
        var (share, rest, teamCount) = (0, countMax, counts.count)
        for count in counts.values.sorted() {
            share = rest / teamCount
            guard count <= share else { break }
            rest -= count
            teamCount -= 1
            share = .max
        }
        var removable = counts.mapValues { max($0 - share, 0) }
        entries.removeAll { entry in
            guard let left = removable[team(entry.topic)], left > 0 else { return false }
            removable[team(entry.topic)] = left - 1
            return true
        }
        return excess + countMax - entries.count
    }

    /// Returns the first index whose sequence is not less than `sequence`, which must not exceed the last entry's.
    private func firstIndex(notBefore sequence: Int64) -> Int {
        // Binary search; most acknowledgements are for the newest entries.
        var (low, high) = (0, entries.count - 1)
        while low < high {
            let middle = low + (high - low) / 2
            if entries[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
