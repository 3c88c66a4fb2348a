// SPDX-License-Identifier: Apache-2.0

import PushNet
import TestSupport
import Testing

@testable import PushCluster

struct NotificationIDsTests {
    private let node = NodeNumber(rawValue: 5)
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)
    private let unixMicroseconds: Int64 = 1_800_000_000_000_000

    /// Returns the numbers of a node whose shard has answered with a time.
    private func ids(_ node: NodeNumber, at moment: MonotonicTime, errorMicroseconds: Int64 = 500) -> NotificationIDs {
        var ids = NotificationIDs(node)
        ids.clock.add(
            unixMicroseconds + moment.nanoseconds(since: start) / 1_000,
            asked: moment.advanced(byNanoseconds: -errorMicroseconds * 1_000), answered: moment)
        return ids
    }

    @Test func `numbers ascend, and name their node`() {
        var ids = ids(node, at: start)
        var last: Int64 = 0
        for step in 0..<10_000 {
            let id = ids.next(at: start.advanced(byMilliseconds: Int64(step / 5_000)))
            #expect(id > last && NotificationIDs.node(of: id) == node)
            last = id
        }
    }

    @Test func `a clock that is set back does not repeat numbers`() {
        var ids = ids(node, at: start)
        let first = ids.next(at: start)
        ids.clock.add(unixMicroseconds - 9_000_000, asked: start, answered: start)
        #expect(ids.next(at: start) > first)
    }

    @Test(arguments: [0, 4, 5, 6, 1023])
    func `a number can be raised above that of any node`(other: Int) {
        var others = ids(NodeNumber(rawValue: other), at: start)
        var ids = ids(node, at: start)
        let id = others.next(at: start.advanced(byMilliseconds: 1_000))
        let next = ids.next(at: start, above: id)
        #expect(next > id && NotificationIDs.node(of: next) == node)
    }

    @Test func `when a number has passed, all nodes make higher numbers`() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<1_000 {
            var first = ids(
                NodeNumber(rawValue: 1023), at: start, errorMicroseconds: .random(in: 0...9_000, using: &generator))
            var second = ids(
                NodeNumber(rawValue: 0), at: start, errorMicroseconds: .random(in: 0...9_000, using: &generator))
            let id = first.next(at: start.advanced(byNanoseconds: .random(in: 0...5_000_000, using: &generator)))
            let passed = first.passes(id, after: start)
            #expect(second.next(at: passed) > id)
        }
    }

    @Test func `several answers bound the shard's time more closely than each of them`() {
        var clock = ShardClock()
        #expect(!clock.isKnown && clock.passes(0, after: start) == .future)
        clock.add(unixMicroseconds, asked: start, answered: start.advanced(byMilliseconds: 10))
        let later = start.advanced(byMilliseconds: 20)
        clock.add(unixMicroseconds + 29_000, asked: later, answered: later.advanced(byMilliseconds: 10))
        let end = later.advanced(byMilliseconds: 10)
        // The first answer came before 10 ms, and the second one after 9 ms of the shard's time had passed in addition.
        #expect(clock.latest(at: end) - unixMicroseconds <= 30_100)
        #expect(clock.passes(unixMicroseconds + 28_900, after: end) == end)
    }
}
