// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import Testing

@testable import PushServer

@Suite struct MemoryBudgetTests {
    private static let step = Limits.memoryReportByteCount
    private static let stranger = Principal.stranger(SourceAddress(ipv4: 1))
    private let budget = MemoryBudget(byteCountMax: 16 * Self.step)

    @Test func `changes below one step are not reported, and reported memory is released`() {
        var memory = ConnectionMemory()
        func reports(_ byteCount: Int) -> Bool { memory.report(byteCount, of: Self.stranger, to: budget) }
        let isBelowReported = reports(Self.step - 1)
        let isStepReported = reports(Self.step)
        #expect(!isBelowReported && isStepReported)
        #expect(budget.heldByteCount == Self.step && !memory.isHeldBack)
        let isRestReported = reports(2 * Self.step - 1)
        let isLessReported = reports(5)
        #expect(!isRestReported && isLessReported)
        #expect(budget.heldByteCount == 0)
    }

    @Test func `a principal over its share is throttled on all connections, and others are not`() {
        var (first, second, other) = (ConnectionMemory(), ConnectionMemory(), ConnectionMemory())
        _ = first.report(2 * Self.step, of: .provider("A"), to: budget)
        #expect(!first.isHeldBack)
        _ = second.report(Self.step, of: .provider("A"), to: budget)
        _ = other.report(Self.step, of: .provider("B"), to: budget)
        #expect(second.isHeldBack && !other.isHeldBack && budget.holdBackCount == 1)
        first.release(to: budget)
        _ = second.report(Self.step, of: .provider("A"), to: budget)
        #expect(!second.isHeldBack)
        for _ in 0..<2 { second.release(to: budget) }
        other.release(to: budget)
        #expect(budget.heldByteCount == 0)
    }

    @Test func `strangers of many networks share one budget`() {
        var all: [ConnectionMemory] = []
        for network in 0..<3 {
            var memory = ConnectionMemory()
            _ = memory.report(Self.step, of: .stranger(SourceAddress(ipv4: UInt32(network))), to: budget)
            all.append(memory)
        }
        #expect(all.map(\.isHeldBack) == [false, false, true])
        #expect(budget.isOverWithStrangers)
        all[0].release(to: budget)
        #expect(!budget.isOverWithStrangers)
    }

    @Test func `all principals are throttled at the whole budget`() {
        var all: [ConnectionMemory] = []
        for number in 0..<17 {
            var memory = ConnectionMemory()
            _ = memory.report(Self.step, of: .provider("\(number)"), to: budget)
            all.append(memory)
        }
        #expect(all.map(\.isHeldBack) == Array(repeating: false, count: 16) + [true])
    }
}
