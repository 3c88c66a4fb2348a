// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import Synchronization

/// The memory that connections hold for their peers, per principal and in total, and its limits.
///
/// All loops share it. Connections report in steps of `Limits.memoryReportByteCount`, so most requests change nothing
/// here. The lock is taken only when a connection starts or stops holding at least one step.
///
/// ```
/// ├ strangers ┼─ principals up to the fair limit ─┼─ principals above it ─┼ reserve ┤
///   1 share     at most 3 shares: not paused        at most 3 shares        1 share
/// ```
///
/// A share is an eighth of the budget. Principals here are devices and providers: strangers have a limit in common, and
/// the administrator has none. A principal above one share is paused. When all principals together hold more than three
/// shares, those above the max-min fair limit are paused, too. That limit divides the three shares among those that
/// need it: if each principal held at most that much, all together would hold exactly three shares. All others
/// continue. A limit is checked after memory was taken; the reserve covers the excess.
package final class MemoryBudget: Sendable {
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

    /// The size of the budget in bytes, from which all limits are derived.
    package let byteCountMax: Int
    /// The maximum for all strangers together, and for each principal, in bytes.
    let shareByteCount: Int
    /// The maximum for the strangers of one loop, in bytes.
    ///
    /// Each loop has its own limit, because it can close only its own connections.
    let strangersPerLoopByteCount: Int
    /// The number of bytes of all principals together above which those above the fair limit are paused.
    private let principalsByteCount: Int
    // Relaxed ordering suffices: the sums are only compared with limits.
    private let strangers = Atomic<Int>(0)
    private let principals = Atomic<Int>(0)
    /// The bytes that one principal may hold while all together hold too much, as of the last computation.
    private let fairLimit = Atomic<Int>(0)
    /// The number of checks until `fairLimit` is computed again.
    private let checksUntilRecomputation = Atomic<Int>(0)
    private let pauses = Atomic<Int>(0)
    private let holders = Lock<[Principal: Holder]>([:])

    package init(byteCountMax: Int, loopCount: Int = 1) {
        self.byteCountMax = byteCountMax
        shareByteCount = byteCountMax / Limits.memorySharesCount
        strangersPerLoopByteCount = shareByteCount / max(1, loopCount)
        principalsByteCount = shareByteCount * Limits.memorySharesOfPrincipalsCount
    }

    /// Returns half of the memory that the control groups or the machine allow, or a default if neither can be read.
    package static func defaultByteCount() -> Int {
        let limits = [ProcessLimits.controlGroupByteCount(), ProcessLimits.machineByteCount].compactMap { $0 }
        guard let smallest = limits.min() else { return Limits.memoryBudgetByteCountDefault }
        return max(Limits.memoryBudgetByteCountMin, smallest / 2)
    }

    /// The number of bytes that connections hold now.
    package var heldByteCount: Int { strangers.load(ordering: .relaxed) + principals.load(ordering: .relaxed) }
    /// The number of times that a connection was paused.
    package var pauseCount: Int { pauses.load(ordering: .relaxed) }

    /// The maximum number of handshakes in flight on one loop.
    ///
    /// They take at most half of what the loop's strangers may hold, but one is always possible.
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
        if account.principal.isStranger {
            strangers.wrappingAdd(byteCount, ordering: .relaxed)
        } else {
            principals.wrappingAdd(byteCount, ordering: .relaxed)
        }
    }

    /// Returns whether the connections of a principal must not hold more than now.
    fileprivate func isOver(_ account: Account) -> Bool {
        let byteCount = account.byteCount.load(ordering: .relaxed)
        if byteCount > shareByteCount { return true }
        guard principals.load(ordering: .relaxed) > principalsByteCount else {
            // The next check above the maximum recomputes the fair limit.
            checksUntilRecomputation.store(0, ordering: .relaxed)
            return false
        }
        return byteCount > currentFairLimit()
    }

    /// Returns the fair limit, computed again after a number of checks that grows with the number of principals.
    private func currentFairLimit() -> Int {
        guard checksUntilRecomputation.wrappingSubtract(1, ordering: .relaxed).newValue < 0 else {
            return fairLimit.load(ordering: .relaxed)
        }
        let byteCounts = holders.withLock { holders in
            holders.values.compactMap { holder in
                holder.account.principal.isStranger ? nil : holder.account.byteCount.load(ordering: .relaxed)
            }
        }
        let limit = Self.fairLimit(of: principalsByteCount, among: byteCounts)
        fairLimit.store(limit, ordering: .relaxed)
        checksUntilRecomputation.store(byteCounts.count, ordering: .relaxed)
        return limit
    }

    /// Returns the largest number that limits each holder so that all together hold at most a total.
    ///
    /// - Parameters:
    ///   - total: The bytes to divide.
    ///   - byteCounts: The bytes that each holder holds.
    /// - Returns: The limit; those that hold less leave the rest of theirs to the others.
    static func fairLimit(of total: Int, among byteCounts: [Int]) -> Int {
        var rest = total
        var count = byteCounts.count
        for byteCount in byteCounts.sorted() {
            guard byteCount * count <= rest else { return rest / count }
            rest -= byteCount
            count -= 1
        }
        return total
    }

    fileprivate func notePause() { pauses.wrappingAdd(1, ordering: .relaxed) }
}

/// Counts the memory of one loop's strangers, and reports the memory of all its connections to the budget.
final class LoopMemory {
    fileprivate let budget: MemoryBudget
    private var strangersByteCount = 0

    init(_ budget: MemoryBudget) { self.budget = budget }

    /// The number of bytes by which the loop's strangers exceed their maximum; negative if they hold less.
    var strangersExcess: Int { strangersByteCount - budget.strangersPerLoopByteCount }

    /// The number of bytes below the maximum at which the loop stops closing strangers.
    ///
    /// Without this margin, it would close some in every turn.
    var strangersSlack: Int { budget.strangersPerLoopByteCount / 8 }

    fileprivate func add(_ byteCount: Int, to account: MemoryBudget.Account) {
        budget.add(byteCount, to: account)
        if account.principal.isStranger { strangersByteCount += byteCount }
    }

    /// Returns whether the connections of an account must not hold more than now.
    fileprivate func isOver(_ account: MemoryBudget.Account) -> Bool {
        account.principal.isStranger ? strangersExcess > 0 : budget.isOver(account)
    }
}

/// The part of a memory budget that one connection has reported.
struct ConnectionMemory {
    /// The reported bytes, a multiple of `Limits.memoryReportByteCount`.
    private(set) var reportedByteCount = 0
    /// Whether the connection must not take anything more until it or others hold less.
    private(set) var isPaused = false
    private var account: MemoryBudget.Account?

    /// The bytes of the connection times the bytes of its principal; the principal of a stranger is its network.
    var weight: Double { Double(reportedByteCount) * Double(account?.byteCount.load(ordering: .relaxed) ?? 0) }

    /// Reports how many bytes the connection holds, in whole steps.
    ///
    /// - Parameters:
    ///   - byteCount: All bytes that the connection holds for its peer.
    ///   - principal: The owner of the account, evaluated only if there is no account yet.
    ///   - memory: The counts of the connection's loop.
    /// - Returns: Whether anything was reported, so that `isPaused` may have changed.
    mutating func report(_ byteCount: Int, of principal: @autoclosure () -> Principal, to memory: LoopMemory) -> Bool {
        let steps = byteCount & ~(Limits.memoryReportByteCount - 1)
        guard steps != reportedByteCount || isPaused else { return false }
        let account = self.account ?? memory.budget.join(principal())
        self.account = account
        memory.add(steps - reportedByteCount, to: account)
        reportedByteCount = steps
        let wasPaused = isPaused
        isPaused = steps > 0 && memory.isOver(account)
        if isPaused, !wasPaused { memory.budget.notePause() }
        if steps == 0 { release(to: memory) }
        return true
    }

    /// Withdraws the report, because the connection closed or its principal changed.
    mutating func release(to memory: LoopMemory) {
        guard let account else { return }
        memory.add(-reportedByteCount, to: account)
        memory.budget.leave(account)
        (self.account, reportedByteCount, isPaused) = (nil, 0, false)
    }
}
