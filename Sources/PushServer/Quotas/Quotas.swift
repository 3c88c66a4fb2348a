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
    private let defaultBadTokensPerTeam: RateTable?
    private let state: Lock<QuotaRegistry>
    /// A number that grows whenever the quotas of a subject are replaced.
    ///
    /// Release ordering after the change ensures that a loop that acquires the number finds the new ones.
    private let changes = Atomic<UInt64>(1)

    /// Creates the quotas from the settings and counts in the store.
    init(_ defaults: QuotaDefaults, settings: [QuotaSubject: QuotaLimits] = [:], uses: [QuotaUse] = []) {
        self.defaults = defaults
        devices = defaults.deviceRate.positive.map { rate in
            DeviceRates(TokenBucket(of: defaults.deviceBurst.positive ?? rate, refilledBy: rate))
        }
        defaultBadTokensPerTeam = defaults.defaultBadTokensPerTeam.positive.map { count in
            RateTable(
                TokenBucket(of: count, refilledBy: count, inSeconds: 3600), countMax: Limits.strangerRateCountMax)
        }
        let counts = uses.map { ($0.subject, DayCount(day: $0.day, count: $0.count)) }
        state = Lock(QuotaRegistry(settings: settings, earlierCounts: Dictionary(counts) { first, _ in first }))
    }

    // MARK: For loops

    /// A number that changes when cached quotas become invalid.
    var version: UInt64 { changes.load(ordering: .acquiring) }

    /// Returns whether any team, key or app may have a limit.
    func limits(any kind: QuotaSubject.Kind) -> Bool {
        !defaults[kind].isEmpty || state.withLock { state in state.settings.keys.contains { $0.kind == kind } }
    }

    /// Returns the quotas of a subject, or nil if nothing limits it.
    func subjectQuotas(of subject: QuotaSubject, _ now: QuotaMoment) -> SubjectQuotas? {
        let (subjectQuotas, hasForgotten) = state.withLock { state in
            state.subjectQuotas(of: subject, defaults[subject.kind], now)
        }
        if hasForgotten { changes.wrappingAdd(1, ordering: .releasing) }
        return subjectQuotas
    }

    /// Takes a bad device token of a team without a limit of its own; returns nil, or the nanoseconds to wait.
    func takeDefaultBadToken(of team: String, _ now: QuotaMoment) -> Int64? {
        guard case .refused(let wait) = defaultBadTokensPerTeam?.take(team, now: now.monotonic) else { return nil }
        // An administrator may have set 0, which means no limit.
        return limits(of: QuotaSubject(.team, team)).badTokens == nil ? wait : nil
    }

    // MARK: For administrators

    /// Sets the limits of a subject for an administrator; nil restores the configured limits.
    func set(_ subject: QuotaSubject, _ limits: QuotaLimits?) {
        state.withLock { state in
            state.settings[subject] = limits
            if let former = state.quotasBySubject[subject] {
                state.quotasBySubject[subject] = SubjectQuotas(
                    former, (limits ?? QuotaLimits()).or(defaults[subject.kind]))
            }
        }
        changes.wrappingAdd(1, ordering: .releasing)
    }

    /// The subjects that have a setting, or that have limits and sent something.
    var subjects: Set<QuotaSubject> { state.withLock { Set($0.settings.keys).union($0.quotasBySubject.keys) } }

    /// The daily counts, most of which are stored already.
    var uses: [QuotaUse] { state.withLock { $0.quotasBySubject.values.compactMap(\.use) } }

    /// Returns the limits of a subject: those set for it, else the configured ones.
    func limits(of subject: QuotaSubject) -> QuotaLimits {
        (state.withLock { $0.settings[subject] } ?? QuotaLimits()).or(defaults[subject.kind])
    }

    /// Returns the state of each limit of a subject; if it has sent nothing yet, all of it remains.
    func quotas(of subject: QuotaSubject, _ now: QuotaMoment) -> [AdminAPI.Quota] {
        guard let subjectQuotas = subjectQuotas(of: subject, now) else { return [] }
        let rate = limits(of: subject).rate
        let states: [(AdminAPI.Quota.Limit, QuotaState?)] = [
            (.rate, subjectQuotas.rateState(now)), (.daily, subjectQuotas.dayState(now)),
            (.badTokens, subjectQuotas.badTokenState(now)),
        ]
        return states.compactMap { limit, state in
            state.map { state in
                AdminAPI.Quota(
                    subject, limit, allowed: state.limit, rate: limit == .rate ? rate : nil,
                    remaining: state.remaining, resetsIn: state.resetSeconds, refused: subjectQuotas.refusedCount)
            }
        }
    }
}

/// The settings, counts and quotas of teams, keys and apps.
private struct QuotaRegistry {
    /// The limits that administrators set.
    var settings: [QuotaSubject: QuotaLimits]
    /// The counts from before the server started.
    var earlierCounts: [QuotaSubject: DayCount]
    /// The quotas of subjects that have limits and were looked up.
    var quotasBySubject: [QuotaSubject: SubjectQuotas] = [:]

    /// Finds or creates the quotas of a subject; the second result is whether others were discarded for it.
    mutating func subjectQuotas(
        of subject: QuotaSubject, _ defaults: QuotaLimits, _ now: QuotaMoment
    ) -> (SubjectQuotas?, Bool) {
        if let known = quotasBySubject[subject] { return (known.isLimited ? known : nil, false) }
        let limits = (settings[subject] ?? QuotaLimits()).or(defaults)
        let new = SubjectQuotas(subject, limits, used: earlierCounts[subject] ?? DayCount(day: 0, count: 0))
        guard new.isLimited else { return (nil, false) }
        let isFull = quotasBySubject.count >= Limits.quotaSubjectCountMax
        if isFull { quotasBySubject = quotasBySubject.filter { !$0.value.isIdle(now) } }
        guard quotasBySubject.count < Limits.quotaSubjectCountMax else { return (nil, isFull) }
        quotasBySubject[subject] = new
        earlierCounts[subject] = nil
        return (new, isFull)
    }
}
