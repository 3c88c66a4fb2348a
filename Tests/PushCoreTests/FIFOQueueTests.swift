// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PushCore

@Suite struct FIFOQueueTests {
    @Test(arguments: [1, 3, 64, 65, 1000])
    func `elements leave in the order of their arrival`(count: Int) {
        var queue = FIFOQueue<Int>()
        var expected: [Int] = []
        for number in 0..<3 * count {
            queue.append(number)
            expected.append(number)
            if number % 3 == 2 {
                #expect(queue.popFirst() == expected.removeFirst())
            }
            #expect(queue.count == expected.count && queue.first == expected.first)
        }
        #expect(queue.all() == expected)
        while let number = queue.popFirst() { #expect(number == expected.removeFirst()) }
        #expect(expected.isEmpty && queue.isEmpty && queue.all().isEmpty && queue.first == nil)
    }

    @Test func `a prepended element leaves first`() {
        var queue = FIFOQueue<Int>()
        queue.prepend(2)
        queue.append(3)
        queue.prepend(1)
        #expect(queue.popFirst() == 1)
        queue.prepend(0)
        #expect(queue.all() == [0, 2, 3])
    }

    @Test(arguments: [1, 200]) func `the queue does not keep removed elements alive`(count: Int) {
        final class Object {}
        var queue = FIFOQueue<Object>()
        weak var first: Object?
        do {
            let object = Object()
            first = object
            queue.append(object)
        }
        for _ in 1..<count { queue.append(Object()) }
        #expect(first != nil)
        _ = queue.popFirst()
        #expect(first == nil && queue.count == count - 1)
    }
}
