// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import Synchronization
import Testing

@testable import PushServer

@Suite struct DayCountTests {
    /// A count that is changed atomically, as loops do.
    private final class Shared {
        let state = Atomic<UInt64>(0)

        func add(on day: Int64, upTo limit: Int64) -> Bool { DayCount.add(to: state, on: day, upTo: limit) }

        var count: DayCount { DayCount(packed: state.load(ordering: .relaxed)) }
    }

    @Test func `each day has the full limit`() {
        let shared = Shared()
        for day in [20_000, 20_001, 20_003] as [Int64] {
            #expect((0..<5).map { _ in shared.add(on: day, upTo: 3) } == [true, true, true, false, false], "\(day)")
            #expect(shared.count == DayCount(day: day, count: 3))
        }
    }

    @Test func `a clock that was ahead blocks no later notification`() {
        let shared = Shared()
        #expect((0..<3).map { _ in shared.add(on: 30_000, upTo: 2) } == [true, true, false])
        #expect((0..<3).map { _ in shared.add(on: 20_000, upTo: 2) } == [true, true, false])
        #expect(shared.add(on: -1, upTo: 1), "a clock before 1970 counts as the first day")
        #expect(shared.count == DayCount(day: 0, count: 1))
    }

    @Test func `a refund makes room for another notification, on the same day only`() {
        let shared = Shared()
        #expect(shared.add(on: 5, upTo: 2) && shared.add(on: 5, upTo: 2) && !shared.add(on: 5, upTo: 2))
        DayCount.refund(to: shared.state, on: 4)
        #expect(shared.count.count == 2)
        DayCount.refund(to: shared.state, on: 5)
        #expect(shared.add(on: 5, upTo: 2) && !shared.add(on: 5, upTo: 2))
        for _ in 0..<5 { DayCount.refund(to: shared.state, on: 5) }
        #expect(shared.count == DayCount(day: 5, count: 0))
    }

    @Test(
        arguments: [(0, 0), (1, 1), (20_778, 1_000_000_000_000), (16_777_215, 1_099_511_627_775)] as [(Int64, Int64)])
    func `a count survives packing into one number`(day: Int64, count: Int64) {
        let value = DayCount(day: day, count: count)
        #expect(value.day == day && value.count == count)
        #expect(DayCount(packed: value.packed) == value)
    }

    @Test func `a moment knows its day and the rest of the day`() {
        let midnight: Int64 = 20_778 * 86_400
        for (seconds, day, left) in [
            (0, 20_778, 86_400), (1, 20_778, 86_399), (86_399, 20_778, 1), (86_400, 20_779, 86_400),
        ]
            as [(Int64, Int64, Int64)]
        {
            let moment = QuotaMoment(monotonic: .past, time: Timestamp(unixSeconds: midnight + seconds))
            #expect(moment.day == day && moment.secondsLeft == left)
        }
        #expect([1, 999_999_999, 1_000_000_000, 1_000_000_001].map(QuotaMoment.seconds) == [1, 1, 1, 2])
    }
}
