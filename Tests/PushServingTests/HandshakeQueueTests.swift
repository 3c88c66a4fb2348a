// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import Testing

@testable import PushServing

/// A connection that records what the queue does to it.
private final class Greeter: HandshakeTaker {
    let number: Int
    var handshakeTurn = HandshakeTurn()
    var hasBegunHandshake: Bool
    let network: SourceAddress
    var pauseCount = 0

    init(_ number: Int, hasBegun: Bool = false, network: UInt32 = 1, isOverRate: Bool = false) {
        self.number = number
        hasBegunHandshake = hasBegun
        self.network = SourceAddress(ipv4: network)
        handshakeTurn.isOverRate = isOverRate
    }

    func pauseHandshake() { pauseCount += 1 }
}

@Suite struct HandshakeQueueTests {
    private static let bound = 8
    private var queue = HandshakeQueue<Greeter>()

    /// Runs one turn with a limited number of steps, and returns the numbers of the connections.
    private mutating func steps(at now: MonotonicTime = .past, limit: Int = Self.bound) -> [Int] {
        defer { queue.endTurn() }
        var numbers: [Int] = []
        while numbers.count < limit, let greeter = queue.takeNext(now: now) { numbers.append(greeter.number) }
        return numbers
    }

    /// Runs one turn whose handshakes finish immediately, and returns their numbers.
    private mutating func turn() -> [Int] {
        defer { queue.endTurn() }
        var numbers: [Int] = []
        while numbers.count < Self.bound, let greeter = queue.takeNext(now: .past) {
            queue.freeSlot(of: greeter)
            numbers.append(greeter.number)
        }
        return numbers
    }

    @Test mutating func `networks take turns, however many handshakes one network has`() {
        for number in 0..<100 { queue.append(Greeter(number, network: 1)) }
        for number in 100..<102 { queue.append(Greeter(number, network: 2)) }
        #expect(turn() == [0, 100, 1, 101, 2, 3, 4, 5])
        queue.append(Greeter(200, network: 3))
        #expect(turn().contains(200))
    }

    @Test mutating func `a connection that is closed while it waits gets no slot`() {
        var few = HandshakeQueue<Greeter>(slotCountMax: 1)
        let greeters = (0..<3).map { Greeter($0) }
        for greeter in greeters { few.append(greeter) }
        for greeter in greeters.prefix(2) { greeter.handshakeTurn = HandshakeTurn() }
        #expect(few.takeNext(now: .past)?.number == 2)
    }

    @Test mutating func `a network over its rate waits until the others have had their turn`() {
        for number in 0..<20 { queue.append(Greeter(number, network: 1, isOverRate: true)) }
        for number in 100..<112 { queue.append(Greeter(number, network: 2)) }
        #expect(turn() == Array(100..<108))
        #expect(turn() == Array(108..<112) + Array(0..<4))
    }

    @Test mutating func `pending handshakes are limited per network and in total, and the others wait`() {
        queue = HandshakeQueue(slotCountMax: 4, slotsPerNetworkCountMax: 3)
        let greeters = (0..<5).map { Greeter($0, network: 1) } + (10..<13).map { Greeter($0, network: 2) }
        for greeter in greeters { queue.append(greeter) }
        #expect(steps() == [0, 10, 1, 11])
        #expect(steps() == [] && !queue.isEmpty)
        queue.freeSlot(of: greeters[5])
        queue.freeSlot(of: greeters[5])
        #expect(steps() == [2])
        queue.freeSlot(of: greeters[6])
        #expect(steps() == [12], "the first network has its three")
        greeters[0].hasBegunHandshake = true
        queue.append(greeters[0])
        #expect(steps() == [0], "one that has begun needs no other slot")
        for greeter in greeters { queue.freeSlot(of: greeter) }
        #expect(turn() == [3, 4] && queue.isEmpty)
    }

    @Test mutating func `a handshake that takes long frees its slot, whatever its peer sends`() {
        queue = HandshakeQueue(slotCountMax: 2, slotsPerNetworkCountMax: 2)
        let greeters = (0..<4).map { Greeter($0) }
        for greeter in greeters { queue.append(greeter) }
        let end = MonotonicTime.past.advanced(by: Limits.handshakeSlotDuration)
        #expect(steps() == [0, 1])
        greeters[0].hasBegunHandshake = true
        queue.append(greeters[0])
        #expect(steps(at: end) == [0])
        #expect(steps(at: end.advanced(byNanoseconds: 1)) == [2, 3])
        for greeter in greeters { queue.freeSlot(of: greeter) }
        queue.append(Greeter(4))
        #expect(steps(at: end.advanced(byNanoseconds: 2)) == [4])
    }

    @Test mutating func `connections that still wait after a turn keep their order`() {
        let greeters = (0..<2 * Self.bound + 1).map { Greeter($0) }
        for greeter in greeters { queue.append(greeter) }
        #expect(turn() == Array(0..<Self.bound))
        #expect(turn() == Array(Self.bound..<2 * Self.bound))
        #expect(!queue.isEmpty)
        #expect(turn() == [2 * Self.bound])
        #expect(queue.isEmpty && turn() == [])
    }

    @Test mutating func `a handshake that has started continues before another one starts`() {
        for number in 0..<Self.bound { queue.append(Greeter(number)) }
        for number in 100..<102 { queue.append(Greeter(number, hasBegun: true)) }
        #expect(turn() == [100, 101] + Array(0..<Self.bound - 2))
        for number in 200..<200 + Self.bound { queue.append(Greeter(number, hasBegun: true)) }
        #expect(turn() == Array(200..<200 + Self.bound), "new ones wait")
        #expect(turn() == [Self.bound - 2, Self.bound - 1])
    }

    @Test mutating func `a waiting connection is paused once, and a served one may queue again`() {
        let greeters = (0..<2 * Self.bound).map { Greeter($0) }
        for greeter in greeters {
            queue.append(greeter)
            queue.append(greeter)
        }
        #expect(turn() == Array(0..<Self.bound))
        #expect(greeters.map(\.pauseCount) == greeters.map { $0.number < Self.bound ? 0 : 1 })
        #expect(greeters.map(\.handshakeTurn.isQueued) == greeters.map { $0.number >= Self.bound })
        greeters[0].hasBegunHandshake = true
        queue.append(greeters[0])
        #expect(turn() == [0] + Array(Self.bound..<2 * Self.bound - 1))
        #expect(greeters.map(\.pauseCount).max() == 1)
        #expect(turn() == [2 * Self.bound - 1])
    }

    @Test mutating func `thousands of connections keep their order while more arrive`() {
        var order: [Int] = []
        let greeters = (0..<5000).map { Greeter($0) }
        for start in stride(from: 0, to: 5000, by: 10) {
            for greeter in greeters[start..<start + 10] { queue.append(greeter) }
            order += turn()
        }
        while !queue.isEmpty { order += turn() }
        #expect(order == Array(0..<5000))
        #expect(greeters.allSatisfy { $0.pauseCount <= 1 && !$0.handshakeTurn.isQueued })
    }
}
