// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushServing
internal import PushStore
internal import Synchronization

/// All rates and quotas: the configured ones, the settings of administrators, and the current use.
///
/// All loops share it, and ask only for what they have not cached.
final class Quotas: Sendable {
    let defaults: QuotaDefaults
    /// The rates of device tokens; nil if they have no limit.
    let devices: DeviceRates?
    /// The rates of bad device tokens for teams without a limit of their own, by team ID.
    private let unsetBadTokens: RateTable?
    private let state: Lock<QuotaBook>
    /// A number that grows whenever an allowance is replaced.
    ///
    /// Release ordering after the change ensures that a loop that acquires the number finds the new allowance.
    private let changes = Atomic<UInt64>(1)

    /// Creates the quotas from the settings and counts in the store.
    init(_ defaults: QuotaDefaults, settings: [QuotaSubject: QuotaLimits] = [:], uses: [QuotaUse] = []) {
        self.defaults = defaults
        devices = defaults.deviceRate.positive.map { rate in
            DeviceRates(TokenBucket(of: defaults.deviceBurst.positive ?? rate, refilledBy: rate))
        }
        unsetBadTokens = defaults.unsetBadTokens.positive.map { count in
            RateTable(
                TokenBucket(of: count, refilledBy: count, inSeconds: 3600), countMax: Limits.strangerRateCountMax)
        }
        let counts = uses.map { ($0.subject, DayCount(day: $0.day, count: $0.count)) }
        state = Lock(QuotaBook(settings: settings, earlierCounts: Dictionary(counts) { first, _ in first }))
    }

    // MARK: For loops

    /// A number that changes when cached allowances become invalid.
    var version: UInt64 { changes.load(ordering: .acquiring) }

    /// Returns whether any team, key or app may have a limit.
    func limits(any kind: QuotaSubject.Kind) -> Bool {
        !defaults[kind].isEmpty || state.withLock { state in state.settings.keys.contains { $0.kind == kind } }
    }

    /// Returns the allowance of a subject, or nil if nothing limits it.
    func allowance(of subject: QuotaSubject, _ now: QuotaMoment) -> Allowance? {
        let (allowance, hasForgotten) = state.withLock { state in
            state.allowance(of: subject, defaults[subject.kind], now)
        }
        if hasForgotten { changes.wrappingAdd(1, ordering: .releasing) }
        return allowance
    }

    /// Takes a bad device token of a team without a limit of its own; returns nil, or the nanoseconds to wait.
    func takeUnsetBadToken(of team: String, _ now: QuotaMoment) -> Int64? {
        guard case .refused(let wait) = unsetBadTokens?.take(team, now: now.monotonic) else { return nil }
        // An administrator may have set 0, which means no limit.
        return limits(of: QuotaSubject(.team, team)).badTokens == nil ? wait : nil
    }

    // MARK: For administrators

    /// Sets the limits of a subject for an administrator; nil restores the configured limits.
    func set(_ subject: QuotaSubject, _ limits: QuotaLimits?) {
        state.withLock { state in
            state.settings[subject] = limits
            if let former = state.allowances[subject] {
                state.allowances[subject] = Allowance(former, (limits ?? QuotaLimits()).or(defaults[subject.kind]))
            }
        }
        changes.wrappingAdd(1, ordering: .releasing)
    }

    /// The subjects that have a setting, or that have limits and sent something.
    var subjects: Set<QuotaSubject> { state.withLock { Set($0.settings.keys).union($0.allowances.keys) } }

    /// The daily counts, most of which are stored already.
    var uses: [QuotaUse] { state.withLock { $0.allowances.values.compactMap(\.use) } }

    /// Returns the limits of a subject: those set for it, else the configured ones.
    func limits(of subject: QuotaSubject) -> QuotaLimits {
        (state.withLock { $0.settings[subject] } ?? QuotaLimits()).or(defaults[subject.kind])
    }

    /// Returns the state of each limit of a subject; if it has sent nothing yet, all of it remains.
    func quotas(of subject: QuotaSubject, _ now: QuotaMoment) -> [AdminAPI.Quota] {
        guard let allowance = allowance(of: subject, now) else { return [] }
        let rate = limits(of: subject).rate
        let states: [(AdminAPI.Quota.Limit, QuotaState?)] = [
            (.rate, allowance.rateState(now)), (.daily, allowance.dayState(now)),
            (.badTokens, allowance.badTokenState(now)),
        ]
        return states.compactMap { limit, state in
            state.map { state in
                AdminAPI.Quota(
                    subject, limit, allowed: state.limit, rate: limit == .rate ? rate : nil,
                    remaining: state.remaining, resetsIn: state.resetSeconds, refused: allowance.refusedCount)
            }
        }
    }
}

/// The settings, counts and allowances of teams, keys and apps.
private struct QuotaBook {
    /// The limits that administrators set.
    var settings: [QuotaSubject: QuotaLimits]
    /// The counts from before the server started.
    var earlierCounts: [QuotaSubject: DayCount]
    /// The allowances of subjects that have limits and were looked up.
    var allowances: [QuotaSubject: Allowance] = [:]

    /// Finds or creates an allowance; the second result is whether others were discarded for it.
    mutating func allowance(
        of subject: QuotaSubject, _ defaults: QuotaLimits, _ now: QuotaMoment
    ) -> (Allowance?, Bool) {
        if let known = allowances[subject] { return (known.isLimited ? known : nil, false) }
        let limits = (settings[subject] ?? QuotaLimits()).or(defaults)
        let new = Allowance(subject, limits, used: earlierCounts[subject] ?? DayCount(day: 0, count: 0))
        guard new.isLimited else { return (nil, false) }
        let isFull = allowances.count >= Limits.quotaSubjectCountMax
        if isFull { allowances = allowances.filter { !$0.value.isIdle(now) } }
        guard allowances.count < Limits.quotaSubjectCountMax else { return (nil, isFull) }
        allowances[subject] = new
        earlierCounts[subject] = nil
        return (new, isFull)
    }
}
