// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushStore

extension StoreMetrics {
    /// Publishes the numbers of a node.
    func set(_ store: ClusterStore) {
        let counters = store.counters
        set(.accepted, to: counters.accepted)
        set(.acknowledged, to: counters.acknowledged)
        set(.expired, to: counters.expired)
        set(.dropped, to: counters.dropped)
        set(.collapsed, to: counters.collapsed)
        set(.unregistered, to: counters.unregistered)
        set(.ignoredAcknowledgements, to: counters.ignoredAcknowledgements)
        set(.devicesConnected, to: store.streamCount)
        setOutcomes(counters.outcomes)
    }
}

extension StoreAnswer {
    /// Adds the events of this node to the counts, which the worker has read from the tables.
    func completed(by counters: NodeCounters) -> StoreAnswer {
        guard case .counts(var counts) = self else { return self }
        counts.accepted = counters.accepted
        counts.acknowledged = counters.acknowledged
        counts.collapsed = counters.collapsed
        counts.expired = counters.expired
        counts.dropped = counters.dropped
        counts.unregistered = counters.unregistered
        counts.glitches = counters.ignoredAcknowledgements
        for (outcome, count) in counters.outcomes { counts.outcomes[outcome.rawValue] = count }
        return .counts(counts)
    }
}
