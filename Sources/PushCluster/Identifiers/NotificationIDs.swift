// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushStore

/// Makes the ascending numbers of notifications, instances and attachments on one node, as `NotificationIDLayout` says.
///
/// The time is the latest that the shard's clock may show. A sender gets its answer to a written notification only when
/// the shard's clock has certainly passed the number. So what the sender sends next has a higher number, on any node.
struct NotificationIDs {
    private static let counterBitCount = NotificationIDLayout.counterBitCount
    private static let timeShift = NotificationIDLayout.timeShift
    private static let start = NotificationIDLayout.startMilliseconds

    private let node: NodeNumber
    private var last: Int64
    var clock = ShardClock()

    /// Creates the numbers of a node.
    ///
    /// - Parameters:
    ///   - node: The number of the node.
    ///   - ceiling: A number that the node has never exceeded, from its row in `nodes`.
    init(_ node: NodeNumber, above ceiling: Int64 = 0) {
        self.node = node
        last = ceiling
    }

    /// Returns the number of the node that made a number.
    static func node(of id: Int64) -> NodeNumber {
        NodeNumber(rawValue: Int(id >> counterBitCount) & (NodeNumber.count - 1))
    }

    /// Returns a number of a node from a time, above another one.
    static func id(of node: NodeNumber, atUnixMilliseconds milliseconds: Int64, above least: Int64) -> Int64 {
        let ids = NotificationIDs(node)
        let first = max(milliseconds - start, 0) << timeShift | Int64(node.rawValue) << counterBitCount
        return max(first, ids.following(least))
    }

    /// Returns the number of a new instance.
    static func instance(
        of node: NodeNumber, atUnixMilliseconds milliseconds: Int64, above least: Int64
    ) -> InstanceID {
        InstanceID(rawValue: id(of: node, atUnixMilliseconds: milliseconds, above: least))
    }

    /// Returns the next number, above another one.
    mutating func next(at moment: MonotonicTime, above least: Int64 = 0) -> Int64 {
        let milliseconds = max(clock.latest(at: moment) / 1_000 - Self.start, 0)
        let first = milliseconds << Self.timeShift | Int64(node.rawValue) << Self.counterBitCount
        last = max(first, following(max(last, least)))
        return last
    }

    /// Returns the time at which every node makes only higher numbers.
    func passes(_ id: Int64, after moment: MonotonicTime) -> MonotonicTime {
        clock.passes((id >> Self.timeShift + Self.start + 1) * 1_000, after: moment)
    }

    /// Returns a number that this node reaches only after a time, to be recorded as its ceiling.
    func ceiling(at moment: MonotonicTime, aheadMilliseconds: Int64) -> Int64 {
        var copy = self
        return copy.next(at: moment.advanced(byMilliseconds: aheadMilliseconds))
    }

    /// Returns the least number of this node after another one of any node.
    private func following(_ id: Int64) -> Int64 {
        let first = (id >> Self.timeShift) << Self.timeShift | Int64(node.rawValue) << Self.counterBitCount
        if id < first { return first }
        if id + 1 < first + 1 << Self.counterBitCount { return id + 1 }
        // The counter of this millisecond is used up, so continue in the next one.
        return first + 1 << Self.timeShift
    }
}
