// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import Testing

@testable import PushServer

@Suite struct MemoryBudgetTests {
    private static let step = Limits.memoryReportByteCount
    private static let stranger = Principal.stranger(SourceAddress(ipv4: 1))
    private let budget: MemoryBudget
    private let loop: LoopMemory

    init() {
        budget = MemoryBudget(byteCountMax: 16 * Self.step)
        loop = LoopMemory(budget)
    }

    /// Creates a connection of a principal that holds a number of steps.
    private func connection(holding steps: Int, of principal: Principal, _ loop: LoopMemory? = nil) -> ConnectionMemory
    {
        var memory = ConnectionMemory()
        _ = memory.report(steps * Self.step, of: principal, to: loop ?? self.loop)
        return memory
    }

    @Test func `changes below one step are not reported, and reported memory is released`() {
        var memory = ConnectionMemory()
        func reports(_ byteCount: Int) -> Bool { memory.report(byteCount, of: Self.stranger, to: loop) }
        let isBelowReported = reports(Self.step - 1)
        let isStepReported = reports(Self.step)
        #expect(!isBelowReported && isStepReported)
        #expect(budget.heldByteCount == Self.step && !memory.isHeldBack)
        let isRestReported = reports(2 * Self.step - 1)
        let isLessReported = reports(5)
        #expect(!isRestReported && isLessReported)
        #expect(budget.heldByteCount == 0)
    }

    @Test func `a principal over its share is held back on all connections, and others are not`() {
        var first = connection(holding: 2, of: .provider("A"))
        #expect(!first.isHeldBack)
        var second = connection(holding: 1, of: .provider("A"))
        var other = connection(holding: 1, of: .provider("B"))
        #expect(second.isHeldBack && !other.isHeldBack && budget.holdBackCount == 1)
        first.release(to: loop)
        _ = second.report(Self.step, of: .provider("A"), to: loop)
        #expect(!second.isHeldBack)
        for _ in 0..<2 { second.release(to: loop) }
        other.release(to: loop)
        #expect(budget.heldByteCount == 0)
    }

    @Test func `strangers of many networks share one budget`() {
        var all = (0..<3).map { connection(holding: 1, of: .stranger(SourceAddress(ipv4: $0))) }
        #expect(all.map(\.isHeldBack) == [false, false, true])
        #expect(loop.strangersExcess == Self.step)
        all[0].release(to: loop)
        #expect(loop.strangersExcess == 0)
    }

    @Test func `the strangers of one loop do not depend on those of another`() {
        let budget = MemoryBudget(byteCountMax: 32 * Self.step, loopCount: 2)
        let loops = [LoopMemory(budget), LoopMemory(budget)]
        let many = connection(holding: 5, of: Self.stranger, loops[0])
        let few = connection(holding: 1, of: Self.stranger, loops[1])
        #expect(many.isHeldBack && !few.isHeldBack)
        #expect(budget.heldByteCount == 6 * Self.step)
    }

    @Test func `above three shares in total, only principals above the average are held back`() {
        let large = (0..<4).map { connection(holding: 2, of: .provider("large \($0)")) }
        #expect(large.map(\.isHeldBack) == [false, false, false, true])
        var small = (0..<4).map { connection(holding: 0, of: .provider("small \($0)")) }
        for number in 0..<4 { _ = small[number].report(Self.step, of: .provider("small \(number)"), to: loop) }
        // The average of five principals is more than one step, that of eight is less.
        #expect(small.map(\.isHeldBack) == [false, false, true, true])
        #expect(budget.heldByteCount <= budget.byteCountMax)
    }

    @Test func `the weight of a connection grows with what its network holds`() {
        let lonely = connection(holding: 1, of: .stranger(SourceAddress(ipv4: 7)))
        let crowd = (0..<3).map { _ in connection(holding: 1, of: Self.stranger) }
        #expect(crowd[0].weight == 3 * lonely.weight)
        #expect(ConnectionMemory().weight == 0)
    }

    @Test func `handshakes take at most half of what strangers may hold, but one is always possible`() {
        func count(_ megabytes: Int) -> Int {
            MemoryBudget(byteCountMax: megabytes << 20, loopCount: 2).handshakeCountMax
        }
        #expect(count(16) * 2 * Limits.handshakeByteCount <= 1 << 20)
        #expect(count(100_000) == Limits.handshakeCountMax)
        #expect(MemoryBudget(byteCountMax: 1, loopCount: 2).handshakeCountMax == 1)
    }
}
