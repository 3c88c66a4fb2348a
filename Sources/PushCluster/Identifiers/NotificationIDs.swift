// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// Makes the ascending numbers of notifications, instances and attachments on one node, as `NotificationIDLayout` says.
///
/// The time is the latest that the shard's clock may show. A sender gets its answer to a written notification only when
/// the shard's clock has certainly passed the number. So what the sender sends next has a higher number, on any node.
///
/// Each heartbeat records a ceiling: a number above all that the node has made. If the shard's clock is set back,
/// earlier numbers are ahead of the clock. Each node then continues above the ceilings of all nodes. A sender gets its
/// answer when all nodes have certainly read a ceiling above the number.
struct NotificationIDs {
    private static let counterBitCount = NotificationIDLayout.counterBitCount
    private static let timeShift = NotificationIDLayout.timeShift
    private static let start = NotificationIDLayout.startMilliseconds

    /// The least time in milliseconds by which a ceiling is ahead of the clock if the numbers of its node are ahead.
    ///
    /// If the numbers of a node follow the clock, its ceiling is ahead by the duration of a lease.
    private static let followedMilliseconds = NodeConfiguration.leaseMilliseconds + 1_000
    /// The longest time in milliseconds that an answer waits for the clock; otherwise, it waits for ceilings.
    ///
    /// This is a second more than `followedMilliseconds`, because each node estimates the shard's time a little differently.
    static let aheadMilliseconds = followedMilliseconds + 1_000

    /// The milliseconds whose numbers a node with numbers ahead of the clock may make between two heartbeats: 131,072
    /// numbers, more than a node accepts in that time.
    private static let unrecordedMilliseconds: Int64 = 32

    private let node: NodeNumber
    private var last: Int64
    var clock = ShardClock()
    /// The ceilings of this node that the shard has recorded, and the times at which all nodes have read them.
    private var ceilings = FIFOQueue<(id: Int64, due: MonotonicTime)>()
    /// The highest ceiling of this node that all nodes have read.
    private var heard: Int64 = 0

    /// Creates the numbers of a node.
    ///
    /// - Parameters:
    ///   - node: The number of the node.
    ///   - ceiling: A number that the node has never exceeded.
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

    /// Returns a number above all that a node has made which recorded a ceiling with its last heartbeat.
    static func reached(fromCeiling ceiling: Int64) -> Int64 { ceiling + unrecordedMilliseconds << timeShift }

    /// Returns the next number, above another one.
    mutating func next(at moment: MonotonicTime, above least: Int64 = 0) -> Int64 {
        let own = max(first(at: moment), following(last))
        let raised = following(least)
        guard raised > own else {
            last = own
            return own
        }
        // One wrong number of another node must not raise all later numbers of this node.
        if raised < first(at: moment) + Self.aheadMilliseconds << Self.timeShift { last = raised }
        return raised
    }

    /// Returns the least number of this node at a time.
    private func first(at moment: MonotonicTime) -> Int64 {
        NotificationIDLayout.least(at: clock.latest(at: moment) / 1_000) | Int64(node.rawValue) << Self.counterBitCount
    }

    /// Returns the time from which every node makes only higher numbers, or the time at which to call this again.
    func passes(_ id: Int64, after moment: MonotonicTime) -> MonotonicTime {
        let due = clock.passes((id >> Self.timeShift + Self.start + 1) * 1_000, after: moment)
        guard clock.isKnown, due > moment.advanced(byMilliseconds: Self.aheadMilliseconds) else { return due }
        if id <= heard { return moment }
        let recorded = ceilings.all().first { $0.id >= id }
        return max(moment, recorded?.due ?? moment.advanced(byMilliseconds: NodeConfiguration.leaseMilliseconds / 3))
    }

    /// Returns a number above all that this node has made, to be recorded as its ceiling.
    ///
    /// - Parameters:
    ///   - moment: The current time.
    ///   - aheadMilliseconds: The time for which numbers that follow the clock stay below the ceiling; nil if the node
    ///     makes no numbers.
    /// - Returns: The number.
    func ceiling(at moment: MonotonicTime, aheadMilliseconds: Int64?) -> Int64 {
        guard let aheadMilliseconds else { return following(last) }
        var copy = self
        return copy.next(at: moment.advanced(byMilliseconds: aheadMilliseconds))
    }

    // MARK: A clock that was set

    /// Takes the shard's time from the answer to a heartbeat.
    ///
    /// - Parameters:
    ///   - time: As for `ShardClock.add`.
    ///   - asked: As for `ShardClock.add`.
    ///   - answered: As for `ShardClock.add`.
    ///   - isTrusted: Whether the node has made numbers from the earlier answers.
    mutating func add(_ time: Int64, asked: MonotonicTime, answered: MonotonicTime, isTrusted: Bool) {
        let former = clock.isKnown && isTrusted ? first(at: answered) : 0
        guard !clock.refine(time, asked: asked, answered: answered) else { return }
        clock.add(time, asked: asked, answered: answered)
        // Without this, a sender that got an answer from another node could now get a lower number from this node.
        last = max(last, former)
    }

    /// Continues above each ceiling that is far ahead of the clock.
    ///
    /// - Parameters:
    ///   - ceilings: The ceilings of all nodes, from the answer to a heartbeat.
    ///   - own: The ceiling that the heartbeat recorded.
    ///   - moment: The current time.
    mutating func follow(_ ceilings: [Int64], own: Int64, at moment: MonotonicTime) {
        let bound = first(at: moment) + Self.followedMilliseconds << Self.timeShift
        for ceiling in ceilings where ceiling > bound && ceiling <= NodeMessageLimits.idMax {
            last = max(last, ceiling)
        }
        while let first = self.ceilings.first, first.due <= moment {
            _ = self.ceilings.popFirst()
            heard = max(heard, first.id)
        }
        // After the duration of a lease, each node that has a lease has read the answer to a later heartbeat.
        self.ceilings.append((own, moment.advanced(byMilliseconds: NodeConfiguration.leaseMilliseconds)))
    }

    /// Returns the time in milliseconds by which the numbers are ahead of the shard's clock.
    func aheadMilliseconds(at moment: MonotonicTime) -> Int64 {
        max(last - first(at: moment), 0) >> Self.timeShift
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
