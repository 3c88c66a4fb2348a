// SPDX-License-Identifier: Apache-2.0

import PushCore
import Testing

@testable import PushServer

/// A connection that notes what its line does to it.
private final class Greeter: HandshakeTaker {
    let number: Int
    var awaitsHandshake = false
    var hasBegunHandshake: Bool
    var pauseCount = 0

    init(_ number: Int, hasBegun: Bool = false) {
        self.number = number
        hasBegunHandshake = hasBegun
    }

    func pauseHandshake() { pauseCount += 1 }
}

@Suite struct HandshakeQueueTests {
    private static let bound = Limits.handshakeStepsPerTurnCountMax
    private var queue = HandshakeQueue<Greeter>()

    private mutating func turn() -> [Int] { queue.takeTurn().map(\.number) }

    @Test mutating func `a turn has a bound, and keeps the order`() {
        let greeters = (0..<2 * Self.bound + 1).map { Greeter($0) }
        for greeter in greeters { queue.append(greeter) }
        #expect(turn() == Array(0..<Self.bound))
        #expect(turn() == Array(Self.bound..<2 * Self.bound))
        #expect(!queue.isEmpty)
        #expect(turn() == [2 * Self.bound])
        #expect(queue.isEmpty && turn() == [])
    }

    @Test mutating func `a handshake that has begun goes on before another begins`() {
        for number in 0..<Self.bound { queue.append(Greeter(number)) }
        for number in 100..<102 { queue.append(Greeter(number, hasBegun: true)) }
        #expect(turn() == [100, 101] + Array(0..<Self.bound - 2))
        for number in 200..<200 + Self.bound { queue.append(Greeter(number, hasBegun: true)) }
        #expect(turn() == Array(200..<200 + Self.bound), "new ones wait")
        #expect(turn() == [Self.bound - 2, Self.bound - 1])
    }

    @Test mutating func `whoever waits is paused once, and whoever had its turn may come again`() {
        let greeters = (0..<2 * Self.bound).map { Greeter($0) }
        for greeter in greeters {
            queue.append(greeter)
            queue.append(greeter)
        }
        #expect(turn() == Array(0..<Self.bound))
        #expect(greeters.map(\.pauseCount) == greeters.map { $0.number < Self.bound ? 0 : 1 })
        #expect(greeters.map(\.awaitsHandshake) == greeters.map { $0.number >= Self.bound })
        greeters[0].hasBegunHandshake = true
        queue.append(greeters[0])
        #expect(turn() == [0] + Array(Self.bound..<2 * Self.bound - 1))
        #expect(greeters.map(\.pauseCount).max() == 1)
        #expect(turn() == [2 * Self.bound - 1])
    }

    @Test mutating func `thousands keep their order while more come`() {
        var order: [Int] = []
        let greeters = (0..<5000).map { Greeter($0) }
        for start in stride(from: 0, to: 5000, by: 10) {
            for greeter in greeters[start..<start + 10] { queue.append(greeter) }
            order += turn()
        }
        while !queue.isEmpty { order += turn() }
        #expect(order == Array(0..<5000))
        #expect(greeters.allSatisfy { $0.pauseCount <= 1 && !$0.awaitsHandshake })
    }
}
