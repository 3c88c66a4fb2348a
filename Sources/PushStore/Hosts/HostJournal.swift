// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet

/// The notifications that a host delivered without the store, for the store's counts, histories and trace.
///
/// The host wakes the store only for old or many records. The store takes the records before it does anything else, so
/// its answers include everything that hosts have answered before.
final class HostJournal: Sendable {
    enum Record: Sendable {
        /// A notification was sent, and its device acknowledged it before it was stored.
        case delivered(PendingNotification, DeviceAPI.Acknowledgement, at: Timestamp)
        /// A notification was accepted and not sent.
        case notSent(PendingNotification, RemovalReason, TraceDetail)
        /// A now-or-never notification was sent.
        case sentNow(PendingNotification)
        /// A broadcast was sent to the subscribers of a loop.
        case broadcast(HostBroadcast, to: [DeviceID], at: Timestamp)
        /// A now-or-never notification, or a copy of a now-or-never broadcast, was acknowledged.
        case acknowledgedNow(DeviceAPI.Acknowledgement, TopicID, by: DeviceID, isBroadcast: Bool, at: Timestamp)
    }

    private struct Waiting {
        var records: [Record] = []
        /// Whether the store was woken for many records and has not taken them yet.
        var hasWoken = false
    }

    private let waiting = Lock(Waiting())

    /// Whether the host must pass notifications on to the store, because too many records wait.
    var isFull: Bool { waiting.withLock { $0.records.count >= WriterLimits.journalFullRecordCount } }

    /// Adds records and empties the array; returns whether the store must be woken, because many records wait.
    func append(_ new: inout [Record]) -> Bool {
        defer { new.removeAll(keepingCapacity: true) }
        return waiting.withLock { waiting in
            if waiting.records.isEmpty { swap(&waiting.records, &new) } else { waiting.records += new }
            guard waiting.records.count >= WriterLimits.journalRecordCountMax, !waiting.hasWoken else { return false }
            waiting.hasWoken = true
            return true
        }
    }

    /// Takes all records; `taken` must be empty, and its storage is reused.
    func take(_ taken: inout [Record]) {
        waiting.withLock { waiting in
            swap(&waiting.records, &taken)
            waiting.hasWoken = false
        }
    }
}
