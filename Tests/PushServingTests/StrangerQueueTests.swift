// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import PushServing

@Suite struct StrangerQueueTests {
    private static func slots(_ queue: StrangerQueue) -> [UInt32] {
        var (slots, next) = ([UInt32](), queue.first)
        while let slot = next {
            slots.append(slot)
            next = queue.slot(after: slot)
        }
        return slots
    }

    @Test func `a slot that is appended again moves to the end`() {
        var queue = StrangerQueue()
        for slot: UInt32 in [3, 0, 7] { queue.append(slot) }
        #expect(Self.slots(queue) == [3, 0, 7])
        queue.append(3)
        #expect(Self.slots(queue) == [0, 7, 3])
        queue.remove(7)
        queue.remove(7)
        #expect(Self.slots(queue) == [0, 3] && !queue.contains(7) && !queue.contains(100))
    }

    @Test func `random operations leave the same order as in an array`() {
        var (queue, model) = (StrangerQueue(), [UInt32]())
        for _ in 0..<5000 {
            let slot = UInt32.random(in: 0..<20)
            model.removeAll { $0 == slot }
            if Bool.random() {
                queue.append(slot)
                model.append(slot)
            } else {
                queue.remove(slot)
            }
            #expect(Self.slots(queue) == model && queue.count == model.count)
        }
    }
}
