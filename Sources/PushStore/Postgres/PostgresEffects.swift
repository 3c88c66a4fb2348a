// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushCore

/// The effects of a committed transaction that nodes must apply to memory.
///
/// A host reads the registrations, the filter and the subscriptions of a changed device again, and drops the
/// notifications of its stream that it must no longer deliver.
package struct PostgresEffects: Sendable {
    /// A removed notification, for counters and the trace.
    struct Removal: Sendable {
        /// The row; its `sequence` is the notification's ID.
        var row: PendingTable.Removed
        var reason: RemovalReason
        var detail: TraceDetail
    }

    /// A removed broadcast, for counters, the trace and the stored broadcasts in memory.
    struct BroadcastRemoval: Sendable {
        var row: BroadcastTable.Removed
        var reason: RemovalReason
    }

    /// An outcome that a device reported for the first time.
    struct Report: Sendable {
        var acknowledgement: DeviceAPI.Acknowledgement
        var topic: TopicID
        var device: DeviceID
        /// Whether a broadcast waited for the device until then.
        var endsBroadcast: Bool
    }

    /// The devices whose registrations, filter or subscriptions changed, or of which a notification was removed.
    package var changedDevices: Set<DeviceID> = []
    /// The devices that start or stop saving power.
    package var savesPower: [DeviceID: Bool] = [:]
    package var removedDevices: Set<DeviceID> = []
    var removals: [Removal] = []
    var broadcastRemovals: [BroadcastRemoval] = []
    var reports: [Report] = []
    /// The number of acknowledgements that were ignored.
    package var ignoredAcknowledgementCount = 0
    /// The removed apps and channels, whose rows in other shards must follow.
    var removedApps: [TopicID] = []
    var removedChannels: [ChannelNumber] = []
    /// The number of notifications that were removed because too many waited for a device.
    package var trimmedCount = 0
    /// Whether `control.version` was raised, so that nodes read a new directory.
    package var hasDirectoryChanged = false

    var isEmpty: Bool {
        changedDevices.isEmpty && savesPower.isEmpty && removedDevices.isEmpty && removals.isEmpty
            && broadcastRemovals.isEmpty && reports.isEmpty && ignoredAcknowledgementCount == 0
            && removedApps.isEmpty && removedChannels.isEmpty && !hasDirectoryChanged
    }

    /// Whether the trace records anything of them.
    package var hasEvents: Bool { !removals.isEmpty || !broadcastRemovals.isEmpty || !reports.isEmpty }

    /// The number of notifications that were removed for each reason.
    package var removalCounts: [RemovalReason: Int] {
        var counts: [RemovalReason: Int] = [:]
        for reason in removals.map(\.reason) + broadcastRemovals.map(\.reason) { counts[reason, default: 0] += 1 }
        return counts
    }

    /// The outcomes that devices reported for the first time.
    package var outcomes: [DeviceAPI.Outcome] { reports.map(\.acknowledgement.outcome) }

    package init() {}

    /// Creates the effects of a sweep; no stream has a notification that expired long ago.
    init(expired: [PendingTable.Removed]) {
        removals = expired.map { Removal(row: $0, reason: .expired, detail: .none) }
    }

    /// Collects the effects of a transaction.
    init(of transaction: StoreTransaction) {
        hasDirectoryChanged = transaction.hasDirectoryChanged
        for event in transaction.events {
            switch event {
            case .delivery(let event): add(event)
            case .broadcast(let event): add(event)
            case .stream(let event): add(event)
            case .count(let event): add(event)
            case .reply, .finalReply, .memoryQuery: break
            }
        }
    }

    private mutating func add(_ event: StoreEvent.Delivery) {
        switch event {
        case .removed(let row, let reason, let detail):
            removals.append(Removal(row: row, reason: reason, detail: detail))
            changedDevices.insert(row.device)
        case .acceptedNotStored: break
        }
    }

    private mutating func add(_ event: StoreEvent.BroadcastEvent) {
        switch event {
        case .removed(let row, let reason): broadcastRemovals.append(BroadcastRemoval(row: row, reason: reason))
        case .ended(_, let device): changedDevices.insert(device)
        case .stored, .nowOrNever: break
        }
    }

    private mutating func add(_ event: StoreEvent.StreamEvent) {
        switch event {
        case .power(let device, let isSaving): savesPower[device] = isSaving
        case .setSubscriptions(let device, _): changedDevices.insert(device)
        case .dropUndelivered(_, let device), .dropUndeliveredOfChannel(_, let device):
            if let device { changedDevices.insert(device) }
        // Every device that subscribed to one of the channels is named by the end of its subscription.
        case .dropUndeliveredOfChannels: break
        }
    }

    private mutating func add(_ event: StoreEvent.CountEvent) {
        switch event {
        case .deviceRemoved(let device): removedDevices.insert(device)
        case .registrationsChanged(let device):
            if let device { changedDevices.insert(device) }
        case .subscribed(_, let subscription):
            if let subscription { changedDevices.insert(subscription.token.device) }
        case .unsubscribed(let ended): changedDevices.insert(ended.device)
        case .appRemoved(let topic): removedApps.append(topic)
        case .channelRemoved(let channel): removedChannels.append(channel)
        case .deviceAdded, .registrationBegan, .registrationEnded, .appAdded: break
        }
    }
}
