// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushNet
internal import PushPostgres
internal import PushStore

/// Measures how a node uses PostgreSQL and the links, and exchanges counts with the other nodes.
struct ClusterMeter {
    private let store: StoreMetrics
    private let metrics: ClusterMetrics
    private let workers: ShardWorkers
    private let exchangeMilliseconds: Int64
    /// The sending times and row counts of the batches that are under way, by shard.
    private var underWay: [(sentAt: MonotonicTime, rowCount: Int)?]
    /// The time of the next exchange of counts; `future` during one.
    private var exchangeDue = MonotonicTime.past

    /// Creates the meter of a node.
    ///
    /// - Parameters:
    ///   - store: The metrics to write.
    ///   - workers: The workers of the node.
    ///   - configuration: The settings.
    init(_ store: StoreMetrics, _ workers: ShardWorkers, _ configuration: PostgresStoreConfiguration) {
        self.store = store
        metrics = store.cluster ?? ClusterMetrics()
        self.workers = workers
        exchangeMilliseconds = configuration.countsMilliseconds
        underWay = Array(repeating: nil, count: metrics.shards.count)
    }

    // MARK: Shards

    mutating func sent(_ batch: ShardBatch, toShard shard: Int, at moment: MonotonicTime) {
        underWay[shard] = (moment, batch.writes.count)
    }

    mutating func answered(byShard shard: Int, at moment: MonotonicTime) {
        guard let (sentAt, rowCount) = underWay[shard] else { return }
        underWay[shard] = nil
        let nanoseconds = moment.nanoseconds(since: sentAt)
        store.commit.observe(nanoseconds: nanoseconds)
        guard rowCount > 0 else { return }
        metrics.shards[shard].commit.observe(nanoseconds: nanoseconds)
        metrics.shards[shard].batchRows.observe(rowCount)
    }

    mutating func connectionChanged(toShard shard: Int, isOpen: Bool) {
        underWay[shard] = nil
        metrics.shards[shard].connected.set(isOpen ? 1 : 0)
        guard !isOpen else { return }
        metrics.shards[shard].lostConnections.add()
        metrics.shards[shard].setUnknown()
    }

    // MARK: Turns

    /// Records the state of the node at the end of a turn, and exchanges counts if it is time.
    mutating func note(_ store: ClusterStore, directoryVersion: UInt64?) {
        for (shard, numbers) in zip(store.shards.queues, metrics.shards) {
            let isUsable = shard.lease.renewedAt != nil && !store.context.isClockWrong
            numbers.leaseEnd.set(isUsable ? shard.lease.end.nanoseconds : 0)
            // While no commit completes, no worker reads the state of the shard.
            if !shard.isHeard || store.leaseMilliseconds == 0 { numbers.setUnknown() }
        }
        metrics.linksUp.set(Int64(store.context.links.count))
        metrics.clockDifference.set(store.context.clockDifferenceMilliseconds ?? 0)
        metrics.routes.set(Int64(store.context.routes.count))
        let counters = store.counters
        metrics.secondTries.set(Int64(counters.secondTries))
        metrics.replacedStreams.set(Int64(counters.replacedStreams))
        metrics.registeredAgain.set(Int64(counters.registeredAgain))
        metrics.foundByReview.set(Int64(counters.foundByReview))
        metrics.trimmed.set(Int64(counters.trimmed))
        metrics.draining.set(store.isDraining ? 1 : 0)
        if let directoryVersion {
            metrics.controlVersionLag.set(max(store.context.controlVersion - Int64(directoryVersion), 0))
        }
        self.store.set(.waitingRequests, to: workers.waitingCount)
        // Without a lease, the worker would try to connect for a long time.
        if exchangeDue <= .now, store.leaseMilliseconds > 0, submit(store) { exchangeDue = .future }
        self.store.endTurn(at: .now)
    }

    // MARK: Counts

    /// Takes the sizes of the tables, and the states of the shards; nil if they could not be read.
    mutating func take(_ counts: (sizes: StoreSizes, states: [ServerState?])?) {
        exchangeDue = MonotonicTime.now.advanced(byMilliseconds: exchangeMilliseconds)
        for (index, shard) in metrics.shards.enumerated() {
            guard let states = counts?.states, states.indices.contains(index), let state = states[index] else {
                shard.setUnknown()
                continue
            }
            shard.synchronousStandbys.set(Int64(state.facts.synchronousStandbyCount ?? -1))
            shard.oldestTransactionSeconds.set(max(state.oldestTransactionSeconds ?? 0, 0))
        }
        guard let sizes = counts?.sizes else { return }
        store.set(.apps, to: sizes.appCount)
        store.set(.devices, to: sizes.deviceCount)
        store.set(.registrations, to: sizes.registrationCount)
        store.set(.pending, to: sizes.pendingCount)
        store.set(.byteCount, to: sizes.byteCount)
    }

    /// Writes the last counts of the node, so that the total of all nodes has them.
    func end(_ store: ClusterStore) {
        if store.leaseMilliseconds > 0 { _ = submit(store) }
    }

    private func submit(_ store: ClusterStore) -> Bool {
        var events = AdminAPI.Counts()
        events.addEvents(of: store.counters)
        return workers.history.submit(.exchangeCounts(events))
    }
}
