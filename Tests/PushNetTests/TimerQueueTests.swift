// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

// The heap has no clock. Only internal access permits comparing its order with a model over thousands of steps.
@testable import PushNet

@Suite struct TimerQueueTests {
    @Test(arguments: 0..<100 as Range<UInt64>)
    func `random schedules, cancels and pops agree with a sorted list`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var queue = TimerQueue()
        var model: [(deadline: MonotonicTime, sequence: Int, timer: TimerID)] = []
        var fired: [Int] = []
        var spent: [TimerID] = []
        for step in 0..<400 {
            switch UInt8.random(in: 0..<10, using: &generator) {
            case 0..<5:
                let deadline = MonotonicTime(nanoseconds: .random(in: 0..<50, using: &generator))
                model.append((deadline, step, queue.schedule(at: deadline) { fired.append(step) }))
            case 5..<7 where !model.isEmpty:
                let victim = model.remove(at: Int.random(in: 0..<model.count, using: &generator))
                #expect(queue.cancel(victim.timer) != nil, "seed \(seed), step \(step)")
                spent.append(victim.timer)
            case 7 where !spent.isEmpty:
                let stale = spent[Int.random(in: 0..<spent.count, using: &generator)]
                #expect(queue.cancel(stale) == nil, "seed \(seed), step \(step)")
            default:
                let now = MonotonicTime(nanoseconds: .random(in: 0..<50, using: &generator))
                model.sort { ($0.deadline, $0.sequence) < ($1.deadline, $1.sequence) }
                let expected = model.prefix { $0.deadline <= now }
                fired = []
                while let action = queue.popDue(at: now, scheduledBefore: .max) { action() }
                #expect(fired == expected.map(\.sequence), "seed \(seed), step \(step)")
                spent += expected.map(\.timer)
                model.removeFirst(expected.count)
            }
            #expect(queue.count == model.count, "seed \(seed), step \(step)")
            #expect(queue.nextDeadline == model.map(\.deadline).min(), "seed \(seed), step \(step)")
        }
    }

    @Test func `a timer is due at its deadline and not one nanosecond before`() {
        var queue = TimerQueue()
        _ = queue.schedule(at: MonotonicTime(nanoseconds: 10)) {}
        #expect(queue.popDue(at: MonotonicTime(nanoseconds: 9), scheduledBefore: .max) == nil)
        #expect(queue.popDue(at: MonotonicTime(nanoseconds: 10), scheduledBefore: .max) != nil)
        #expect(queue.count == 0)
    }

    @Test func `an unknown timer number cancels nothing`() {
        var queue = TimerQueue()
        _ = queue.schedule(at: MonotonicTime(nanoseconds: 10)) {}
        for number in [1, 1 << 32, UInt64.max] {
            #expect(queue.cancel(TimerID(rawValue: number)) == nil)
        }
        #expect(queue.count == 1)
    }
}
