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
    private let state: Lock<QuotaRegistry>
    /// A number that grows whenever the quotas of a subject are replaced.
    ///
    /// Release ordering after the change ensures that a loop that acquires the number finds the new ones.
    private let changes = Atomic<UInt64>(1)

    /// Creates the quotas from the settings and counts in the store.
    ///
    /// - Parameters:
    ///   - defaults: The configured limits.
    ///   - settings: The limits that administrators set.
    ///   - uses: The recorded counts, also those of other nodes.
    ///   - isShared: Whether other nodes count too.
    init(
        _ defaults: QuotaDefaults, settings: [QuotaSubject: QuotaLimits] = [:], uses: [QuotaUse] = [],
        isShared: Bool = false
    ) {
        var registry = QuotaRegistry(rules: QuotaRules(defaults), settings: settings, isShared: isShared)
        for use in uses { registry.note(use) }
        state = Lock(registry)
    }

    /// The configured limits and the rates that follow from them.
    var rules: QuotaRules { state.withLock { $0.rules } }

    /// Replaces the configured limits; all subjects keep their use.
    func setDefaults(_ defaults: QuotaDefaults) {
        state.withLock { $0.setDefaults(defaults) }
        changes.wrappingAdd(1, ordering: .releasing)
    }

    // MARK: For loops

    /// A number that changes when cached quotas become invalid.
    var version: UInt64 { changes.load(ordering: .acquiring) }

    /// Returns whether any team, key or app may have a limit.
    func limits(any kind: QuotaSubject.Kind) -> Bool {
        state.withLock { state in
            !state.rules.defaults[kind].isEmpty || state.settings.keys.contains { $0.kind == kind }
        }
    }

    /// Returns the quotas of a subject, or nil if nothing limits it.
    func subjectQuotas(of subject: QuotaSubject, _ now: QuotaMoment) -> SubjectQuotas? {
        let (subjectQuotas, hasForgotten) = state.withLock { state in
            state.subjectQuotas(of: subject, now)
        }
        if hasForgotten { changes.wrappingAdd(1, ordering: .releasing) }
        return subjectQuotas
    }

    /// Takes a bad device token of a team without a limit of its own; returns nil, or the nanoseconds to wait.
    func takeDefaultBadToken(of team: String, _ now: QuotaMoment) -> Int64? {
        guard case .refused(let wait) = rules.defaultBadTokensPerTeam?.take(team, now: now.monotonic) else {
            return nil
        }
        // An administrator may have set 0, which means no limit.
        return limits(of: QuotaSubject(.team, team)).badTokens == nil ? wait : nil
    }

    // MARK: For administrators

    /// Sets the limits of a subject for an administrator; nil restores the configured limits.
    func set(_ subject: QuotaSubject, _ limits: QuotaLimits?) {
        state.withLock { state in
            state.settings[subject] = limits
            if let former = state.quotasBySubject[subject] {
                state.quotasBySubject[subject] = SubjectQuotas(former, state.limits(of: subject))
            }
        }
        changes.wrappingAdd(1, ordering: .releasing)
    }

    /// Replaces the limits of all subjects.
    func replaceSettings(_ settings: [QuotaSubject: QuotaLimits]) {
        let former = state.withLock { $0.settings }
        for subject in Set(settings.keys).union(former.keys) where settings[subject] != former[subject] {
            set(subject, settings[subject])
        }
    }

    /// The subjects that have a setting, or that have limits and sent something.
    var subjects: Set<QuotaSubject> { state.withLock { Set($0.settings.keys).union($0.quotasBySubject.keys) } }

    /// The daily counts, most of which are stored already.
    var uses: [QuotaUse] { state.withLock { $0.quotasBySubject.values.compactMap(\.use) } }

    /// Returns the limits of a subject: those set for it, else the configured ones.
    func limits(of subject: QuotaSubject) -> QuotaLimits {
        state.withLock { $0.limits(of: subject) }
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

extension Quotas: SharedQuotas {
    func takeRecentUse() -> [SharedQuotaUse] {
        state.withLock { $0.quotasBySubject.values.compactMap { $0.takeRecentUse() } }
    }

    func charge(_ uses: [SharedQuotaUse], ofNode node: Int64) {
        let now = QuotaMoment(monotonic: .now, time: .now)
        for use in uses {
            state.withLock { $0.note(QuotaUse(use.subject, day: use.day, count: use.dayCount, node: node)) }
            subjectQuotas(of: use.subject, now)?.charge(use, now)
        }
    }
}

/// The settings, counts and quotas of teams, keys and apps.
private struct QuotaRegistry {
    var rules: QuotaRules
    /// The limits that administrators set.
    var settings: [QuotaSubject: QuotaLimits]
    /// Whether other nodes count too.
    let isShared: Bool
    /// The counts from before the server started.
    var earlierCounts: [QuotaSubject: DayCount] = [:]
    /// The counts of other nodes by their numbers.
    var othersCounts: [QuotaSubject: [Int64: DayCount]] = [:]
    /// The quotas of subjects that have limits and were looked up.
    var quotasBySubject: [QuotaSubject: SubjectQuotas] = [:]

    /// Returns the limits of a subject: those set for it, else the configured ones.
    func limits(of subject: QuotaSubject) -> QuotaLimits {
        (settings[subject] ?? QuotaLimits()).or(rules.defaults[subject.kind])
    }

    /// Takes a count of this node from before it started, or one of another node.
    mutating func note(_ use: QuotaUse) {
        let count = DayCount(day: use.day, count: use.count)
        guard let node = use.node else { return earlierCounts[use.subject] = count }
        guard othersCounts[use.subject] != nil || othersCounts.count < Limits.quotaSubjectCountMax else { return }
        othersCounts[use.subject, default: [:]][node] = count
        quotasBySubject[use.subject]?.setOthers(othersCount(of: use.subject))
    }

    /// Returns the sum of the other nodes' counts on the latest day.
    private func othersCount(of subject: QuotaSubject) -> DayCount {
        let counts = (othersCounts[subject] ?? [:]).values
        let day = counts.map(\.day).max() ?? 0
        return DayCount(day: day, count: counts.reduce(0) { $0 + $1.on(day).count })
    }

    mutating func setDefaults(_ defaults: QuotaDefaults) {
        rules = QuotaRules(defaults, former: rules)
        for (subject, former) in quotasBySubject {
            quotasBySubject[subject] = SubjectQuotas(former, limits(of: subject))
        }
    }

    /// Finds or creates the quotas of a subject; the second result is whether others were discarded for it.
    mutating func subjectQuotas(
        of subject: QuotaSubject, _ now: QuotaMoment
    ) -> (SubjectQuotas?, Bool) {
        if let known = quotasBySubject[subject] { return (known.isLimited ? known : nil, false) }
        let new = SubjectQuotas(
            subject, limits(of: subject), used: earlierCounts[subject] ?? DayCount(day: 0, count: 0),
            isShared: isShared)
        new.setOthers(othersCount(of: subject))
        guard new.isLimited else { return (nil, false) }
        let isFull = quotasBySubject.count >= Limits.quotaSubjectCountMax
        if isFull { quotasBySubject = quotasBySubject.filter { !$0.value.isIdle(now) } }
        guard quotasBySubject.count < Limits.quotaSubjectCountMax else { return (nil, isFull) }
        quotasBySubject[subject] = new
        earlierCounts[subject] = nil
        return (new, isFull)
    }
}
