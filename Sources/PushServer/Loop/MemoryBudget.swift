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
/// ├ strangers ┼────── principals below the average ──────┼──── all other principals ────┼ reserve ┤
///   1 share      at most 3 shares: never held back          at most 3 shares               1 share
/// ```
///
/// A share is an eighth of the budget. It is also the maximum of one principal. When the principals together hold more
/// than three shares, those that hold more than the average are held back. So however many principals hold much, the
/// others continue.
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
    /// The maximum for the strangers of one loop, in bytes.
    ///
    /// Each loop closes only its own connections, so it must not depend on those of the others.
    let strangersPerLoopByteCount: Int
    /// The maximum for all principals together, in bytes, before those above the average are held back.
    private let principalsByteCount: Int
    // Relaxed ordering suffices: the sums are only compared with limits.
    private let strangers = Atomic<Int>(0)
    private let principals = Atomic<Int>(0)
    /// The number of principals with an account.
    private let principalCount = Atomic<Int>(0)
    private let holdBacks = Atomic<Int>(0)
    private let holders = Lock<[Principal: Holder]>([:])

    init(byteCountMax: Int, loopCount: Int = 1) {
        self.byteCountMax = byteCountMax
        shareByteCount = byteCountMax / Limits.memorySharesCount
        strangersPerLoopByteCount = shareByteCount / max(1, loopCount)
        principalsByteCount = shareByteCount * Limits.memorySharesOfPrincipalsCount
    }

    /// Returns half of the memory that the control groups or the machine allow, or a default if neither can be read.
    static func defaultByteCount() -> Int {
        let limits = [ProcessLimits.controlGroupByteCount(), ProcessLimits.machineByteCount].compactMap { $0 }
        guard let smallest = limits.min() else { return Limits.memoryBudgetByteCountDefault }
        return max(Limits.memoryBudgetByteCountMin, smallest / 2)
    }

    /// The number of bytes that connections hold now.
    var heldByteCount: Int { strangers.load(ordering: .relaxed) + principals.load(ordering: .relaxed) }
    /// The number of times that a connection was held back by a budget.
    var holdBackCount: Int { holdBacks.load(ordering: .relaxed) }

    /// The number of handshakes that one loop may have in flight: they take at most half of what its strangers may hold.
    var handshakeCountMax: Int {
        min(Limits.handshakeCountMax, max(1, strangersPerLoopByteCount / 2 / Limits.handshakeByteCount))
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
            if !principal.isStranger { principalCount.wrappingAdd(1, ordering: .relaxed) }
            return account
        }
    }

    /// Notes that a connection no longer uses an account; the last one removes it.
    fileprivate func leave(_ account: Account) {
        holders.withLock { holders in
            guard let count = holders[account.principal]?.connectionCount else { return }
            holders[account.principal]?.connectionCount = count - 1
            guard count == 1 else { return }
            holders[account.principal] = nil
            if !account.principal.isStranger { principalCount.wrappingSubtract(1, ordering: .relaxed) }
        }
    }

    fileprivate func add(_ byteCount: Int, to account: Account) {
        account.byteCount.wrappingAdd(byteCount, ordering: .relaxed)
        if account.principal.isStranger {
            strangers.wrappingAdd(byteCount, ordering: .relaxed)
        } else {
            principals.wrappingAdd(byteCount, ordering: .relaxed)
        }
    }

    /// Whether the connections of a principal must not hold more than now.
    fileprivate func isOver(_ account: Account) -> Bool {
        let byteCount = account.byteCount.load(ordering: .relaxed)
        if byteCount > shareByteCount { return true }
        guard principals.load(ordering: .relaxed) > principalsByteCount else { return false }
        return byteCount > principalsByteCount / max(1, principalCount.load(ordering: .relaxed))
    }

    fileprivate func noteHoldBack() { holdBacks.wrappingAdd(1, ordering: .relaxed) }
}

/// The memory that one loop's connections hold.
final class LoopMemory {
    fileprivate let budget: MemoryBudget
    private var strangersByteCount = 0

    init(_ budget: MemoryBudget) { self.budget = budget }

    /// The number of bytes by which the loop's strangers exceed their maximum; negative below it.
    var strangersExcess: Int { strangersByteCount - budget.strangersPerLoopByteCount }

    /// The number of bytes below the maximum to which strangers are closed, so that it does not happen in every turn.
    var strangersSlack: Int { budget.strangersPerLoopByteCount / 8 }

    fileprivate func add(_ byteCount: Int, to account: MemoryBudget.Account) {
        budget.add(byteCount, to: account)
        if account.principal.isStranger { strangersByteCount += byteCount }
    }

    /// Whether the connections of an account must not hold more than now.
    fileprivate func isOver(_ account: MemoryBudget.Account) -> Bool {
        account.principal.isStranger ? strangersExcess > 0 : budget.isOver(account)
    }
}

/// The part of a memory budget that one connection has reported.
struct ConnectionMemory {
    /// The reported bytes, a multiple of `Limits.memoryReportByteCount`.
    private(set) var reportedByteCount = 0
    /// Whether the connection must not take anything more until it or others hold less.
    private(set) var isHeldBack = false
    private var account: MemoryBudget.Account?

    /// The product of what the connection and its whole network or principal hold.
    var weight: Double { Double(reportedByteCount) * Double(account?.byteCount.load(ordering: .relaxed) ?? 0) }

    /// Reports how many bytes the connection holds, in whole steps.
    ///
    /// - Parameters:
    ///   - byteCount: All bytes that the connection holds for its peer.
    ///   - principal: The owner of the account, evaluated only if there is no account yet.
    ///   - memory: The memory of the connection's loop.
    /// - Returns: Whether anything was reported, so that `isHeldBack` may have changed.
    mutating func report(_ byteCount: Int, of principal: @autoclosure () -> Principal, to memory: LoopMemory) -> Bool {
        let steps = byteCount & ~(Limits.memoryReportByteCount - 1)
        guard steps != reportedByteCount || isHeldBack else { return false }
        let account = self.account ?? memory.budget.join(principal())
        self.account = account
        memory.add(steps - reportedByteCount, to: account)
        reportedByteCount = steps
        let wasHeldBack = isHeldBack
        isHeldBack = steps > 0 && memory.isOver(account)
        if isHeldBack, !wasHeldBack { memory.budget.noteHoldBack() }
        if steps == 0 { release(to: memory) }
        return true
    }

    /// Withdraws the report, because the connection closed or its principal changed.
    mutating func release(to memory: LoopMemory) {
        guard let account else { return }
        memory.add(-reportedByteCount, to: account)
        memory.budget.leave(account)
        (self.account, reportedByteCount, isHeldBack) = (nil, 0, false)
    }
}
