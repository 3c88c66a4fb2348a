// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import Testing

@testable import PushServing

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
        #expect(budget.heldByteCount == Self.step && !memory.isPaused)
        let isRestReported = reports(2 * Self.step - 1)
        let isLessReported = reports(5)
        #expect(!isRestReported && isLessReported)
        #expect(budget.heldByteCount == 0)
    }

    @Test func `a principal over its share is paused on all connections, and others are not`() {
        var first = connection(holding: 2, of: .provider("A"))
        #expect(!first.isPaused)
        var second = connection(holding: 1, of: .provider("A"))
        var other = connection(holding: 1, of: .provider("B"))
        #expect(second.isPaused && !other.isPaused && budget.pauseCount == 1)
        first.release(to: loop)
        _ = second.report(Self.step, of: .provider("A"), to: loop)
        #expect(!second.isPaused)
        for _ in 0..<2 { second.release(to: loop) }
        other.release(to: loop)
        #expect(budget.heldByteCount == 0)
    }

    @Test func `strangers of many networks have one limit together`() {
        var all = (0..<3).map { connection(holding: 1, of: .stranger(SourceAddress(ipv4: $0))) }
        #expect(all.map(\.isPaused) == [false, false, true])
        #expect(loop.strangersExcess == Self.step)
        all[0].release(to: loop)
        #expect(loop.strangersExcess == 0)
    }

    @Test func `the strangers of one loop do not count on another loop`() {
        let budget = MemoryBudget(byteCountMax: 32 * Self.step, loopCount: 2)
        let loops = [LoopMemory(budget), LoopMemory(budget)]
        let many = connection(holding: 5, of: Self.stranger, loops[0])
        let few = connection(holding: 1, of: Self.stranger, loops[1])
        #expect(many.isPaused && !few.isPaused)
        #expect(budget.heldByteCount == 6 * Self.step)
    }

    @Test func `above three shares in total, only principals above the fair limit are paused`() {
        let budget = MemoryBudget(byteCountMax: 160 * Self.step)
        let loop = LoopMemory(budget)
        // Three shares are 60 steps. The fair limit of four is 15 steps.
        let large = (0..<4).map { connection(holding: 20, of: .provider("large \($0)"), loop) }
        #expect(large.map(\.isPaused) == [false, false, false, true])
        let small = (0..<8).map { connection(holding: 1, of: .provider("small \($0)"), loop) }
        #expect(small.allSatisfy { !$0.isPaused })
        // The small ones leave 52 steps to four large ones and to the next one: ten each.
        var last = connection(holding: 8, of: .provider("last"), loop)
        #expect(!last.isPaused)
        _ = last.report(20 * Self.step, of: .provider("last"), to: loop)
        #expect(last.isPaused)
        #expect(budget.heldByteCount <= budget.byteCountMax)
    }

    @Test(arguments: [
        ([], 60, 60), ([10, 20, 30], 60, 60), ([100, 100], 60, 30), ([1, 1, 100, 100], 62, 30), ([1, 100], 60, 59),
        ([0, 0, 90], 60, 60),
    ])
    func `the fair limit lets the others have what small holders leave`(byteCounts: [Int], total: Int, limit: Int) {
        #expect(MemoryBudget.fairLimit(of: total, among: byteCounts) == limit)
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
