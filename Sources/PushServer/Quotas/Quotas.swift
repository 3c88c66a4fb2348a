// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore
internal import Synchronization

/// All rates and quotas: what is configured, what administrators set, and what is used.
///
/// Shared by all loops, which ask it only for what they do not know yet.
final class Quotas: Sendable {
    let defaults: QuotaDefaults
    /// Nil where device tokens have no rate.
    let devices: DeviceRates?
    /// Bad device tokens of teams for which nothing else is set, by team id.
    private let unsetBadTokens: RateTable?
    private let state: Lock<QuotaBook>
    /// Grows whenever an allowance is replaced; released after the change, so that who acquires it finds the new one.
    private let changes = Atomic<UInt64>(1)

    /// Begins with what the store kept.
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

    /// Another number than before when what was asked for must be asked for again.
    var version: UInt64 { changes.load(ordering: .acquiring) }

    /// Whether any team, key or app may have a limit.
    func limits(any kind: QuotaSubject.Kind) -> Bool {
        !defaults[kind].isEmpty || state.withLock { state in state.settings.keys.contains { $0.kind == kind } }
    }

    /// The allowance of a subject; nil when nothing limits it.
    func allowance(of subject: QuotaSubject, _ now: QuotaMoment) -> Allowance? {
        let (allowance, hasForgotten) = state.withLock { state in
            state.allowance(of: subject, defaults[subject.kind], now)
        }
        if hasForgotten { changes.wrappingAdd(1, ordering: .releasing) }
        return allowance
    }

    /// Takes a bad device token of a team that has no budget of its own for them; nil, or nanoseconds to wait.
    func takeUnsetBadToken(of team: String, _ now: QuotaMoment) -> Int64? {
        guard case .refused(let wait) = unsetBadTokens?.take(team, now: now.monotonicNanoseconds) else { return nil }
        // An administrator may have set 0, which is no limit.
        return limits(of: QuotaSubject(.team, team)).badTokens == nil ? wait : nil
    }

    // MARK: For administrators

    /// Limits a subject as an administrator set it; nil for as configured.
    func set(_ subject: QuotaSubject, _ limits: QuotaLimits?) {
        state.withLock { state in
            state.settings[subject] = limits
            if let former = state.allowances[subject] {
                state.allowances[subject] = Allowance(former, (limits ?? QuotaLimits()).or(defaults[subject.kind]))
            }
        }
        changes.wrappingAdd(1, ordering: .releasing)
    }

    /// Who has a setting, or limits and sent something.
    var subjects: Set<QuotaSubject> { state.withLock { Set($0.settings.keys).union($0.allowances.keys) } }

    /// What was used of days; most of it is written down already.
    var uses: [QuotaUse] { state.withLock { $0.allowances.values.compactMap(\.use) } }

    /// What holds for a subject: what was set for it, else what is configured.
    func limits(of subject: QuotaSubject) -> QuotaLimits {
        (state.withLock { $0.settings[subject] } ?? QuotaLimits()).or(defaults[subject.kind])
    }

    /// What is left of each limit of a subject; one that has sent nothing yet has all of it.
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

/// What is known of teams, keys and apps.
private struct QuotaBook {
    /// What administrators set.
    var settings: [QuotaSubject: QuotaLimits]
    /// What was used before the server started.
    var earlierCounts: [QuotaSubject: DayCount]
    /// Who has limits and was asked for.
    var allowances: [QuotaSubject: Allowance] = [:]

    /// Finds or makes an allowance; the second is whether others were forgotten for it.
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
