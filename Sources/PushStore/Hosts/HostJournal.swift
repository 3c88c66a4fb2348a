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

    private let records = Lock<[Record]>([])

    /// Adds records and empties the array; returns the number of records that wait.
    func append(_ new: inout [Record]) -> Int {
        defer { new.removeAll(keepingCapacity: true) }
        return records.withLock { records in
            if records.isEmpty { swap(&records, &new) } else { records += new }
            return records.count
        }
    }

    /// Takes all records; `taken` must be empty, and its storage is reused.
    func take(_ taken: inout [Record]) { records.withLock { swap(&$0, &taken) } }
}
