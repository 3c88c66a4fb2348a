// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushNet

/// The numbers of a node of a cluster, which its store's thread writes.
package final class ClusterMetrics: Sendable {
    /// The end of a notification that was sent to another node.
    package enum PushEnd: Int, CaseIterable, Sendable {
        case accepted, refused, notHere, busy, unanswered

        /// The value of the label.
        package var word: String { self == .notHere ? "not_here" : "\(self)" }
    }

    /// The end of a message that a device has new rows.
    package enum WakeEnd: Int, CaseIterable, Sendable {
        case here, notHere, unanswered

        /// The value of the label.
        package var word: String { self == .notHere ? "not_here" : "\(self)" }
    }

    /// The numbers of each shard, by its index.
    package let shards: [ShardMetrics]
    package let linksUp = MetricCell()
    /// The difference between the clocks of this machine and of PostgreSQL in milliseconds.
    package let clockDifference = MetricCell()
    /// The number of changes of control data that PostgreSQL has and this node does not use yet.
    package let controlVersionLag = MetricCell()
    package let routes = MetricCell()
    /// The times from sending notifications to another node until its answer.
    package let push = DurationHistogram()
    /// The notifications that another node did not deliver, so that this one wrote them.
    package let secondTries = MetricCell()
    /// The times from opening streams of devices until they are registered in PostgreSQL.
    package let attachment = DurationHistogram()
    /// The streams that a later one on another node has replaced.
    package let replacedStreams = MetricCell()
    /// The streams that were registered in PostgreSQL again.
    package let registeredAgain = MetricCell()
    /// The rows that only the comparison of streams with PostgreSQL has found.
    package let foundByReview = MetricCell()
    /// The rows that this node deleted because they exceeded the bounds.
    package let trimmed = MetricCell()
    /// 1 while the node sends its devices away, otherwise 0.
    package let draining = MetricCell()
    private let pushes = MetricCells(count: PushEnd.allCases.count)
    private let wakes = MetricCells(count: WakeEnd.allCases.count)
    private let problems = MetricCells(count: ClusterAPI.ProblemCode.allCases.count)

    package init(shardCount: Int = 1) { shards = (0..<shardCount).map { _ in ShardMetrics() } }

    /// Returns the rest of the lease of shard 0, without which the node serves no device; 0 if it is over.
    package func leaseNanoseconds(now: MonotonicTime) -> Int64 {
        shards.first?.leaseNanoseconds(now: now) ?? 0
    }

    package func count(of end: PushEnd) -> Int64 { pushes[end.rawValue] }

    package func count(of end: WakeEnd) -> Int64 { wakes[end.rawValue] }

    /// Returns the number of problems of the cluster with a code.
    package func count(of code: ClusterAPI.ProblemCode) -> Int64 {
        ClusterAPI.ProblemCode.allCases.firstIndex(of: code).map { problems[$0] } ?? 0
    }

    // MARK: For the store's thread

    /// Counts notifications that were sent to another node.
    package func notePush(_ end: PushEnd, count: Int = 1) { pushes.add(Int64(count), to: end.rawValue) }

    /// Counts devices that were named to another node because of new rows.
    package func noteWake(_ end: WakeEnd, count: Int = 1) { wakes.add(Int64(count), to: end.rawValue) }

    /// Replaces the numbers of problems.
    package func setProblems(_ list: [ClusterAPI.Problem]) {
        for (index, code) in ClusterAPI.ProblemCode.allCases.enumerated() {
            problems.set(Int64(list.count { $0.code == code.rawValue }), at: index)
        }
    }
}
