// SPDX-License-Identifier: Apache-2.0

import PushNet
import PushStore
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

    /// Exchanges heartbeats of all nodes in no time; the shard's clock is `ahead` milliseconds ahead of the right time.
    private func exchange(_ ids: inout [NotificationIDs], ahead: Int64, at moment: MonotonicTime) {
        let time = unixMicroseconds + moment.nanoseconds(since: start) / 1_000 + ahead * 1_000
        let ceilings = ids.map { $0.ceiling(at: moment, aheadMilliseconds: 3_000) }
        for index in ids.indices {
            ids[index].add(time, asked: moment, answered: moment, isTrusted: true)
            ids[index].follow(ceilings, own: ceilings[index], at: moment)
        }
    }

    @Test(arguments: [-20_000, -4_000, -1_000, 1_000, 4_000, 20_000] as [Int64])
    func `when the clock is set, a number that was answered is still below the next one of any node`(ahead: Int64) {
        var ids = [1023, 0].map { NotificationIDs(NodeNumber(rawValue: $0)) }
        for second: Int64 in 0...4 { exchange(&ids, ahead: 0, at: start.advanced(byMilliseconds: second * 1_000)) }
        var highest: Int64 = 0
        for step: Int64 in 4_000...16_000 where step % 100 == 0 {
            let moment = start.advanced(byMilliseconds: step)
            // The nodes notice the new time one after the other.
            if step % 1_000 == 0 { exchange(&ids, ahead: step >= 6_000 ? ahead : 0, at: moment) }
            if step == 5_700 {
                let time = unixMicroseconds + moment.nanoseconds(since: start) / 1_000 + ahead * 1_000
                ids[0].add(time, asked: moment, answered: moment, isTrusted: true)
            }
            let id = ids[0].next(at: moment)
            var passed = ids[0].passes(id, after: moment)
            guard passed < moment.advanced(byMilliseconds: 100) else { continue }
            passed = max(passed, moment)
            #expect(ids[1].next(at: passed.advanced(byMilliseconds: 1)) > id, "after \(step) ms")
            highest = max(highest, id)
        }
        #expect(highest > 0)
    }

    @Test func `numbers that are far ahead are answered when all nodes have read a ceiling above them`() {
        var ids = [1023, 0].map { NotificationIDs(NodeNumber(rawValue: $0)) }
        exchange(&ids, ahead: 3_600_000, at: start)
        _ = ids[0].next(at: start)
        var moment = start.advanced(byMilliseconds: 1_000)
        exchange(&ids, ahead: 0, at: moment)
        let id = ids[0].next(at: moment)
        #expect(ids[0].aheadMilliseconds(at: moment) > 3_500_000 && ids[0].passes(id, after: moment) > moment)
        for _ in 1...2 {
            moment = moment.advanced(byMilliseconds: 1_000)
            exchange(&ids, ahead: 0, at: moment)
        }
        let passed = ids[0].passes(id, after: moment)
        #expect(passed == start.advanced(byMilliseconds: 5_000) && ids[1].next(at: passed) > id)
        #expect(ids[0].passes(id, after: passed) == passed)
    }

    @Test func `a wrong number of another node raises no later number of this node`() {
        var ids = ids(node, at: start)
        let wrong = NodeMessageLimits.idMax
        #expect(ids.next(at: start, above: wrong) > wrong)
        ids.follow([wrong + 1], own: 0, at: start)
        let next = ids.next(at: start)
        #expect(NotificationIDLayout.milliseconds(of: next) < unixMicroseconds / 1_000 + 1_000)
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

    // With one earlier time only, seeds 1893 and 1911 of the simulation were late.
    @Test func `a clock that is set back, and forward again within three seconds, was set forward`() {
        var clock = ShardClock()
        func add(_ seconds: Int64, aheadSeconds: Int64) {
            let moment = start.advanced(byMilliseconds: seconds * 1_000)
            clock.add(
                unixMicroseconds + (seconds + aheadSeconds) * 1_000_000, asked: moment,
                answered: moment.advanced(byMilliseconds: 1))
        }
        add(0, aheadSeconds: 0)
        add(1, aheadSeconds: -20)
        #expect(!clock.wasSetForward(at: start.advanced(byMilliseconds: 1_500)))
        add(3, aheadSeconds: 0)
        #expect(clock.wasSetForward(at: start.advanced(byMilliseconds: 5_900)))
        // Another node may use the time that was 20 seconds behind until its lease has ended.
        let number = unixMicroseconds + 3_500_000
        let passed = clock.passes(number, after: start.advanced(byMilliseconds: 3_600))
        #expect(passed == start.advanced(byMilliseconds: 6_001))
    }
}
