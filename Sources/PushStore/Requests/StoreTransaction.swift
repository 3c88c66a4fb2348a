// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore

/// The writer's current transaction: its time, the disk access that it allows, and its effects.
final class StoreTransaction {
    /// The wall-clock time.
    private(set) var now = Timestamp.unixEpoch
    /// The effects so far.
    private(set) var events: [StoreEvent] = []
    /// Whether apps, keys or certificates changed.
    private(set) var hasDirectoryChanged = false
    /// The disk access that is allowed now.
    var allowance = DiskAccess.growing

    /// Starts a transaction with an empty list of events.
    func begin(now: Timestamp) {
        self.now = now
        events.removeAll(keepingCapacity: true)
        hasDirectoryChanged = false
    }

    /// Adds an effect.
    func add(_ event: StoreEvent) { events.append(event) }

    /// Records that apps, keys or certificates changed, so that loops need a new directory.
    func noteDirectoryChange() { hasDirectoryChanged = true }

    /// Adds removals to the events.
    func note(_ removed: [PendingTable.Removed], _ removal: RemovalReason, _ detail: TraceDetail = .none) {
        for removed in removed { add(.delivery(.removed(removed, removal, detail))) }
    }

    /// Adds removals of broadcasts to the events.
    func note(_ removed: [BroadcastTable.Removed], _ removal: RemovalReason) {
        for removed in removed { add(.broadcast(.removed(removed, removal))) }
    }

    /// Adds the ends of subscriptions to the events, and drops their broadcasts from the streams.
    func note(_ ended: [SubscriptionTable.Ended]) {
        for ended in ended {
            add(.count(.unsubscribed(ended)))
            if let sequence = ended.storedSequence { add(.broadcast(.ended(sequence, ended.device))) }
        }
    }
}
