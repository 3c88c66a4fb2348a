// SPDX-License-Identifier: Apache-2.0

package import PushNet

/// The numbers of a node of a cluster, which its store's thread writes.
package final class ClusterMetrics: Sendable {
    /// The durations of batches that write notifications, from sending to the answer of PostgreSQL.
    package let commit = DurationHistogram()
    /// 1 while the connection for notifications is open, otherwise 0.
    package let connected = MetricCell()
    package let lostConnections = MetricCell()
    /// The batches that wrote notifications.
    package let batches = MetricCell()
    /// The notifications in these batches.
    package let rows = MetricCell()
    /// The end of the lease in nanoseconds of `MonotonicTime`; 0 before the first one.
    package let leaseEnd = MetricCell()
    package let linksUp = MetricCell()
    /// The difference between the clocks of this machine and of PostgreSQL in milliseconds.
    package let clockDifference = MetricCell()
    /// The number of changes of control data that PostgreSQL has and this node does not use yet.
    package let controlVersionLag = MetricCell()
    package let routes = MetricCell()
    /// The notifications that were sent to another node.
    package let pushed = MetricCell()
    /// The notifications that another node did not deliver, so that this one wrote them.
    package let secondTries = MetricCell()
    /// The streams that a later one on another node has replaced.
    package let replacedStreams = MetricCell()
    /// The rows that only the comparison of streams with PostgreSQL has found.
    package let foundByReview = MetricCell()
    /// 1 while the node sends its devices away, otherwise 0.
    package let draining = MetricCell()

    package init() {}

    /// Returns the rest of the lease; 0 without one.
    package func leaseNanoseconds(now: MonotonicTime) -> Int64 { max(leaseEnd.value - now.nanoseconds, 0) }
}
