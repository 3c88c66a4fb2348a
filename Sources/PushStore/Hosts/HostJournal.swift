// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet

/// The notifications that a host delivered without the store, for the store's counts, histories and trace.
///
/// The host adds records without waking the store. The store takes them before it does anything else, so its answers
/// include everything that was answered before.
final class HostJournal: Sendable {
    /// A notification that its device acknowledged before it was stored.
    struct Record: Sendable {
        var pending: PendingNotification
        var acknowledgement: DeviceAPI.Acknowledgement
        /// The time of the acknowledgement.
        var acknowledgedAt: Timestamp
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
