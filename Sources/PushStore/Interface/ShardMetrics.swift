// SPDX-License-Identifier: Apache-2.0

package import PushNet

/// The numbers of a node and one of its shards, which the store's thread writes.
package final class ShardMetrics: Sendable {
    /// The durations of batches that write notifications, from sending to the answer of PostgreSQL.
    package let commit = DurationHistogram()
    /// The numbers of notifications in these batches.
    package let batchRows = CountHistogram()
    /// 1 while the connection for notifications is open, otherwise 0.
    package let connected = MetricCell()
    package let lostConnections = MetricCell()
    /// The end of the lease in nanoseconds of `MonotonicTime`; 0 before the first one.
    package let leaseEnd = MetricCell()
    /// The number of synchronous standbys, or -1 while it is not known.
    package let synchronousStandbys = MetricCell()

    /// The age of the oldest transaction in seconds, 0 without one, or -1 while it is not known.
    package let oldestTransactionSeconds = MetricCell()

    init() { setUnknown() }

    /// Records that the state of the server is not known.
    package func setUnknown() {
        synchronousStandbys.set(-1)
        oldestTransactionSeconds.set(-1)
    }

    /// Returns the rest of the lease; 0 without one.
    package func leaseNanoseconds(now: MonotonicTime) -> Int64 { max(leaseEnd.value - now.nanoseconds, 0) }
}
