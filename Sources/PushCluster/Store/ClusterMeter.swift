// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushStore

/// Measures what a node does with PostgreSQL and with the other nodes.
struct ClusterMeter {
    private let metrics: ClusterMetrics
    /// The time and the number of rows of the batch that is under way; nil for a batch without rows.
    private var underWay: (sentAt: MonotonicTime, rowCount: Int)?

    init(_ metrics: ClusterMetrics) { self.metrics = metrics }

    mutating func sent(_ batch: ShardBatch, at moment: MonotonicTime) {
        underWay = batch.writes.isEmpty ? nil : (moment, batch.writes.count)
    }

    mutating func answered(at moment: MonotonicTime) {
        guard let (sentAt, rowCount) = underWay else { return }
        underWay = nil
        metrics.commit.observe(nanoseconds: moment.nanoseconds(since: sentAt))
        metrics.batches.add()
        metrics.rows.add(Int64(rowCount))
    }

    mutating func connectionChanged(isOpen: Bool) {
        underWay = nil
        metrics.connected.set(isOpen ? 1 : 0)
        if !isOpen { metrics.lostConnections.add() }
    }

    /// Records the state of the node at the end of a turn.
    func note(_ store: ClusterStore, directoryVersion: UInt64?) {
        metrics.leaseEnd.set(store.leaseEnd?.nanoseconds ?? 0)
        metrics.linksUp.set(Int64(store.context.links.count))
        metrics.clockDifference.set(store.context.clockDifferenceMilliseconds ?? 0)
        metrics.routes.set(Int64(store.context.routes.count))
        let counters = store.counters
        metrics.pushed.set(Int64(counters.pushed))
        metrics.secondTries.set(Int64(counters.secondTries))
        metrics.replacedStreams.set(Int64(counters.replacedStreams))
        metrics.foundByReview.set(Int64(counters.foundByReview))
        metrics.draining.set(store.isDraining ? 1 : 0)
        if let directoryVersion {
            metrics.controlVersionLag.set(max(store.context.controlVersion - Int64(directoryVersion), 0))
        }
    }
}
