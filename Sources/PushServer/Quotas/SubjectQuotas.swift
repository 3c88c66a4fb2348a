// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushServing
internal import PushStore
internal import Synchronization

/// The limits of one team, key or app and their current use, shared by all loops.
final class SubjectQuotas: Sendable {
    let subject: QuotaSubject
    /// The bucket of the rate; nil means no limit.
    let rate: TokenBucket?
    let daily: Int64?
    let badTokens: TokenBucket?

    // Relaxed ordering suffices: no other data depends on these numbers. Times are nanoseconds of `MonotonicTime`.
    private let rateFullAt: Atomic<Int64>
    private let badTokensFullAt: Atomic<Int64>
    private let dayCount: Atomic<UInt64>
    /// The count of all other nodes.
    private let othersDayCount = Atomic<UInt64>(0)
    /// The use that other nodes must hear of; nil without other nodes.
    private let recent: RecentUse?
    private let refused: Atomic<Int64>

    /// Creates the quotas of a subject.
    ///
    /// - Parameters:
    ///   - subject: The team, key or app.
    ///   - limits: The limits of the subject.
    ///   - count: The count from before the server started.
    ///   - isShared: Whether other nodes must hear of the use.
    init(_ subject: QuotaSubject, _ limits: QuotaLimits, used count: DayCount, isShared: Bool = false) {
        self.subject = subject
        (rate, daily, badTokens) = (limits.rateBucket, limits.daily.positive, limits.badTokenBucket)
        rateFullAt = Atomic(0)
        badTokensFullAt = Atomic(0)
        dayCount = Atomic(count.packed)
        refused = Atomic(0)
        recent = isShared ? RecentUse(knownDayCount: count) : nil
    }

    /// Creates the quotas of the same subject with other limits, and keeps their use.
    init(_ former: SubjectQuotas, _ limits: QuotaLimits) {
        subject = former.subject
        (rate, daily, badTokens) = (limits.rateBucket, limits.daily.positive, limits.badTokenBucket)
        rateFullAt = Atomic(former.rateFullAt.load(ordering: .relaxed))
        badTokensFullAt = Atomic(former.badTokensFullAt.load(ordering: .relaxed))
        dayCount = Atomic(former.dayCount.load(ordering: .relaxed))
        refused = Atomic(former.refused.load(ordering: .relaxed))
        recent = former.recent
        othersDayCount.store(former.othersDayCount.load(ordering: .relaxed), ordering: .relaxed)
    }

    /// Whether the subject has any limit.
    var isLimited: Bool { rate != nil || daily != nil || badTokens != nil }

    // MARK: Taking

    /// Takes a request; returns nil, or the nanoseconds to wait.
    func takeRequest(_ now: QuotaMoment) -> Int64? {
        guard let rate else { return nil }
        if let wait = rate.take(from: rateFullAt, now: now.monotonic) { return noteRefusal(wait) }
        recent?.noteRequests(1)
        return nil
    }

    /// Undoes `takeRequest` for a request that another limit refused.
    func refundRequest() {
        guard let rate else { return }
        rate.refund(to: rateFullAt)
        recent?.noteRequests(-1)
    }

    /// Takes a notification of the day; returns false if the daily limit is reached.
    func takeNotification(_ now: QuotaMoment) -> Bool {
        guard let daily, !DayCount.add(to: dayCount, on: now.day, upTo: daily - othersCount(on: now.day)) else {
            return true
        }
        refused.wrappingAdd(1, ordering: .relaxed)
        return false
    }

    /// Undoes `takeNotification` for a notification that was taken on this day but not accepted.
    func refundNotification(day: Int64) {
        if daily != nil { DayCount.refund(to: dayCount, on: day) }
    }

    /// Takes a bad device token; returns nil, or the nanoseconds to wait.
    func takeBadToken(_ now: QuotaMoment) -> Int64? {
        guard let badTokens else { return nil }
        if let wait = badTokens.take(from: badTokensFullAt, now: now.monotonic) { return noteRefusal(wait) }
        recent?.noteBadToken()
        return nil
    }

    private func noteRefusal(_ wait: Int64) -> Int64 {
        refused.wrappingAdd(1, ordering: .relaxed)
        return wait
    }

    // MARK: Other nodes

    /// Returns the counts of this node since the last call; nil without changes.
    func takeRecentUse() -> SharedQuotaUse? {
        recent?.take(subject, DayCount(packed: dayCount.load(ordering: .relaxed)))
    }

    /// Counts the requests and bad device tokens that another node has counted, even beyond the limits.
    func charge(_ use: SharedQuotaUse, _ now: QuotaMoment) {
        rate?.charge(use.requestCount, to: rateFullAt, now: now.monotonic)
        badTokens?.charge(use.badTokenCount, to: badTokensFullAt, now: now.monotonic)
    }

    /// Replaces the count of all other nodes.
    func setOthers(_ count: DayCount) { othersDayCount.store(count.packed, ordering: .relaxed) }

    private func othersCount(on day: Int64) -> Int64 {
        DayCount(packed: othersDayCount.load(ordering: .relaxed)).on(day).count
    }

    // MARK: State

    /// Returns the state of the rate limit.
    func rateState(_ now: QuotaMoment) -> QuotaState? { rate.map { $0.state(rateFullAt, now) } }

    /// Returns the state of the daily limit.
    func dayState(_ now: QuotaMoment) -> QuotaState? {
        guard let daily else { return nil }
        let used = DayCount(packed: dayCount.load(ordering: .relaxed)).on(now.day).count + othersCount(on: now.day)
        return QuotaState(limit: daily, remaining: max(0, daily - used), resetSeconds: now.secondsLeft)
    }

    /// Returns the state of the limit on bad device tokens.
    func badTokenState(_ now: QuotaMoment) -> QuotaState? { badTokens.map { $0.state(badTokensFullAt, now) } }

    /// The daily count, for the store; nil if there is nothing to store.
    var use: QuotaUse? {
        let count = DayCount(packed: dayCount.load(ordering: .relaxed))
        return daily == nil || count.day == 0 ? nil : QuotaUse(subject, day: count.day, count: count.count)
    }

    /// The number of refused requests.
    var refusedCount: Int64 { refused.load(ordering: .relaxed) }

    /// Returns whether all limits are unused, so that the quotas can be discarded.
    func isIdle(_ now: QuotaMoment) -> Bool {
        [rateState(now), dayState(now), badTokenState(now)].allSatisfy { $0.map { $0.remaining == $0.limit } ?? true }
    }
}

extension TokenBucket {
    fileprivate func state(_ fullAt: borrowing Atomic<Int64>, _ now: QuotaMoment) -> QuotaState {
        let fullAt = MonotonicTime(nanoseconds: fullAt.load(ordering: .relaxed))
        return state(remaining: remainingCount(fullAt: fullAt, now: now.monotonic))
    }
}

extension QuotaLimits {
    fileprivate var rateBucket: TokenBucket? {
        rate.positive.map { TokenBucket(of: burst.positive ?? $0, refilledBy: $0) }
    }

    fileprivate var badTokenBucket: TokenBucket? {
        badTokens.positive.map { TokenBucket(of: $0, refilledBy: $0, inSeconds: 3600) }
    }
}

extension Int64? {
    /// The number; nil for 0, which means no limit.
    var positive: Int64? { flatMap { $0 > 0 ? $0 : nil } }
}
