// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushStore

extension StoreMetrics {
    /// Publishes the metrics of a node.
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
        set(.unwritten, to: store.context.waitingCount)
        setOutcomes(counters.outcomes)
    }
}

extension StoreAnswer {
    /// Adds the events of this node to the counts, which the worker has read from the tables.
    func completed(by counters: NodeCounters) -> StoreAnswer {
        guard case .counts(var counts) = self else { return self }
        counts.addEvents(of: counters)
        return .counts(counts)
    }
}

extension AdminAPI.Counts {
    /// Adds the events of this node since its start.
    mutating func addEvents(of counters: NodeCounters) {
        accepted += counters.accepted
        acknowledged += counters.acknowledged
        collapsed += counters.collapsed
        expired += counters.expired
        dropped += counters.dropped
        unregistered += counters.unregistered
        glitches += counters.ignoredAcknowledgements
        for (outcome, count) in counters.outcomes { outcomes[outcome.rawValue, default: 0] += count }
    }
}
