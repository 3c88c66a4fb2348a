// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import Synchronization

/// The memory that connections hold for their peers, per principal and in total, and its limits.
///
/// All loops share it. Connections report in steps of `Limits.memoryReportByteCount`, so most requests change nothing
/// here. The lock is taken only when a connection starts or stops holding more than one step.
///
/// ```
/// total ≤ byteCountMax      all strangers ≤ shareByteCount      each principal ≤ shareByteCount
/// ```
final class MemoryBudget: Sendable {
    /// The bytes that one principal holds over all of its connections.
    final class Account: Sendable {
        let principal: Principal
        // Relaxed ordering suffices: the sum is only compared with a limit.
        fileprivate let byteCount = Atomic<Int>(0)

        fileprivate init(_ principal: Principal) { self.principal = principal }
    }

    private struct Holder {
        let account: Account
        var connectionCount: Int
    }

    /// The maximum for all connections together, in bytes.
    let byteCountMax: Int
    /// The maximum for all strangers together, and for each principal, in bytes.
    let shareByteCount: Int
    // Relaxed ordering suffices: the sums are only compared with limits.
    private let total = Atomic<Int>(0)
    private let strangers = Atomic<Int>(0)
    private let holdBacks = Atomic<Int>(0)
    private let holders = Lock<[Principal: Holder]>([:])

    init(byteCountMax: Int) {
        self.byteCountMax = byteCountMax
        shareByteCount = byteCountMax / Limits.memorySharesCount
    }

    /// Returns half of the memory that the control groups or the machine allow, or a default if neither can be read.
    static func defaultByteCount() -> Int {
        let limits = [ProcessLimits.controlGroupByteCount(), ProcessLimits.machineByteCount].compactMap { $0 }
        guard let smallest = limits.min() else { return Limits.memoryBudgetByteCountDefault }
        return max(Limits.memoryBudgetByteCountMin, smallest / 2)
    }

    /// The number of bytes that connections hold now.
    var heldByteCount: Int { total.load(ordering: .relaxed) }
    /// The number of times that a connection was held back by a budget.
    var holdBackCount: Int { holdBacks.load(ordering: .relaxed) }

    /// Whether strangers must be closed, because they hold more than their share or all connections hold too much.
    var isOverWithStrangers: Bool {
        let held = strangers.load(ordering: .relaxed)
        return held > shareByteCount || (held > 0 && heldByteCount > byteCountMax)
    }

    /// Finds or creates the account of a principal for one more connection; the caller must call `leave` later.
    fileprivate func join(_ principal: Principal) -> Account {
        holders.withLock { holders in
            if let holder = holders[principal] {
                holders[principal]?.connectionCount += 1
                return holder.account
            }
            let account = Account(principal)
            holders[principal] = Holder(account: account, connectionCount: 1)
            return account
        }
    }

    /// Notes that a connection no longer uses an account; the last one removes it.
    fileprivate func leave(_ account: Account) {
        holders.withLock { holders in
            guard let count = holders[account.principal]?.connectionCount else { return }
            holders[account.principal]?.connectionCount = count - 1
            if count == 1 { holders[account.principal] = nil }
        }
    }

    fileprivate func add(_ byteCount: Int, to account: Account) {
        account.byteCount.wrappingAdd(byteCount, ordering: .relaxed)
        total.wrappingAdd(byteCount, ordering: .relaxed)
        if account.principal.isStranger { strangers.wrappingAdd(byteCount, ordering: .relaxed) }
    }

    /// Whether the connections of an account must not hold more than now.
    fileprivate func isOver(_ account: Account) -> Bool {
        if account.byteCount.load(ordering: .relaxed) > shareByteCount { return true }
        if heldByteCount > byteCountMax { return true }
        return account.principal.isStranger && strangers.load(ordering: .relaxed) > shareByteCount
    }

    fileprivate func noteHoldBack() { holdBacks.wrappingAdd(1, ordering: .relaxed) }
}

/// The part of a memory budget that one connection has reported.
struct ConnectionMemory {
    /// The reported bytes, a multiple of `Limits.memoryReportByteCount`.
    private(set) var reportedByteCount = 0
    /// Whether the connection must not take anything more until it or others hold less.
    private(set) var isHeldBack = false
    private var account: MemoryBudget.Account?

    /// Reports how many bytes the connection holds, in whole steps.
    ///
    /// - Parameters:
    ///   - byteCount: All bytes that the connection holds for its peer.
    ///   - principal: The owner of the account, evaluated only if there is no account yet.
    ///   - budget: The budget of all loops.
    /// - Returns: Whether anything was reported, so that `isHeldBack` may have changed.
    mutating func report(_ byteCount: Int, of principal: @autoclosure () -> Principal, to budget: MemoryBudget) -> Bool
    {
        let steps = byteCount & ~(Limits.memoryReportByteCount - 1)
        guard steps != reportedByteCount || isHeldBack else { return false }
        let account = self.account ?? budget.join(principal())
        self.account = account
        budget.add(steps - reportedByteCount, to: account)
        reportedByteCount = steps
        let wasHeldBack = isHeldBack
        isHeldBack = steps > 0 && budget.isOver(account)
        if isHeldBack, !wasHeldBack { budget.noteHoldBack() }
        if steps == 0 { release(to: budget) }
        return true
    }

    /// Withdraws the report, because the connection closed or its principal changed.
    mutating func release(to budget: MemoryBudget) {
        guard let account else { return }
        budget.add(-reportedByteCount, to: account)
        budget.leave(account)
        (self.account, reportedByteCount, isHeldBack) = (nil, 0, false)
    }
}
