// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushDBus
internal import PushNet

/// Limits calls, so that no program on the bus can fill the agent's memory or keep it from its work.
struct CallBounds {
    /// The maximum number of calls that a caller can make at once.
    static let burst = 500
    /// The number of calls per second that a caller can make after that.
    static let ratePerSecond = 100
    /// The maximum number of unanswered calls of one caller.
    static let waitingCountMax = 16
    /// The maximum number of unanswered calls of all callers.
    static let allWaitingCountMax = 256
    /// The maximum size of a call's arguments in bytes: the longest text, and as much again for the rest.
    static let argumentByteCountMax = 2 * AppManifest.byteCountMax
    private static let callerCountMax = 1024

    private var accounts: [String: Account] = [:]
    private var waitingCount = 0

    private struct Account {
        var allowance: Double
        var replenishedAt: MonotonicTime
        var waitingCount = 0

        mutating func replenish(at now: MonotonicTime) {
            let earned = Double(now.nanoseconds(since: replenishedAt)) * Double(CallBounds.ratePerSecond) / 1e9
            allowance = min(Double(CallBounds.burst), allowance + earned)
            replenishedAt = now
        }
    }

    /// Creates the limits without any caller.
    init() {}

    /// Accepts or refuses a call.
    ///
    /// - Parameters:
    ///   - caller: The caller's unique bus name.
    ///   - now: The current time.
    /// - Returns: Whether the call is accepted; if so, `end` must follow.
    mutating func begin(_ caller: String, at now: MonotonicTime) -> Bool {
        if accounts[caller] == nil, accounts.count >= Self.callerCountMax { forgetIdle(at: now) }
        guard accounts[caller] != nil || accounts.count < Self.callerCountMax else { return false }
        var account = accounts[caller] ?? Account(allowance: Double(Self.burst), replenishedAt: now)
        account.replenish(at: now)
        let isTaken =
            account.allowance >= 1 && account.waitingCount < Self.waitingCountMax
            && waitingCount < Self.allWaitingCountMax
        if isTaken {
            account.allowance -= 1
            account.waitingCount += 1
            waitingCount += 1
        }
        accounts[caller] = account
        return isTaken
    }

    /// Records that an accepted call was answered.
    mutating func end(_ caller: String) {
        accounts[caller]?.waitingCount -= 1
        waitingCount -= 1
    }

    /// Removes callers without unanswered calls and with their full burst, which are equal to new ones.
    private mutating func forgetIdle(at now: MonotonicTime) {
        accounts = accounts.filter { _, account in
            var account = account
            account.replenish(at: now)
            return account.waitingCount > 0 || account.allowance < Double(Self.burst)
        }
    }
}
