// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushServing
internal import PushStore

/// Checks the quotas for one loop, and caches the quotas of recent senders so that these take no lock.
///
/// ```
/// sender and topic known ─▶ takeRequest: rates of team, key, app ─▶ checks ─▶ takeNotification: device token's rate,
///                                                                │           day of team, key, app
///                                                                └─▶ bad token: takeBadToken
/// ```
/// A request that `takeRequest` refuses counts for no limit. A notification that `takeNotification` refuses still
/// counts as a request for the rates of its team, key and app.
final class LoopQuotas {
    private let quotas: Quotas
    private var rules: QuotaRules
    private var version: UInt64 = 0
    private var known: [QuotaSubject: SubjectQuotas?] = [:]
    /// The quotas of the last request; the next one usually has the same sender and app.
    private var last: (key: String, topic: TopicID, requestQuotas: RequestQuotas)?
    private var hasTeams = false
    private var hasKeys = false
    private var hasTopics = false
    /// The state that the response reports, which is that of the limit with the least remaining.
    private(set) var tightest: QuotaState?

    init(_ quotas: Quotas) {
        self.quotas = quotas
        rules = quotas.rules
    }

    /// Resets the reported state for another request.
    func begin() { tightest = nil }

    /// Returns the quotas that a request counts for.
    ///
    /// - Parameters:
    ///   - key: The ID of the sender's key or certificate.
    ///   - topic: The app, which determines the team.
    ///   - now: The current time.
    /// - Returns: The quotas of those that have limits.
    func requestQuotas(key: String, _ topic: Topic, _ now: QuotaMoment) -> RequestQuotas {
        if quotas.version != version { refresh() }
        guard hasTeams || hasKeys || hasTopics else { return RequestQuotas() }
        if let last, last.topic == topic.id, last.key == key { return last.requestQuotas }
        let requestQuotas = RequestQuotas(
            team: hasTeams ? subjectQuotas(QuotaSubject(.team, topic.teamID), now) : nil,
            key: hasKeys ? subjectQuotas(QuotaSubject(.key, key), now) : nil,
            topic: hasTopics ? subjectQuotas(QuotaSubject(.topic, topic.name.text), now) : nil)
        last = (key, topic.id, requestQuotas)
        return requestQuotas
    }

    private func refresh() {
        version = quotas.version
        rules = quotas.rules
        last = nil
        known.removeAll(keepingCapacity: true)
        (hasTeams, hasKeys, hasTopics) = (
            quotas.limits(any: .team), quotas.limits(any: .key), quotas.limits(any: .topic)
        )
    }

    private func subjectQuotas(_ subject: QuotaSubject, _ now: QuotaMoment) -> SubjectQuotas? {
        if let found = known[subject] { return found }
        if known.count >= Limits.quotaSubjectCountMax { known.removeAll(keepingCapacity: true) }
        let found = quotas.subjectQuotas(of: subject, now)
        known[subject] = .some(found)
        return found
    }

    // MARK: Taking

    /// Takes a request of any kind.
    func takeRequest(_ requestQuotas: RequestQuotas, _ now: QuotaMoment) throws(Rejection) {
        for place in 0..<RequestQuotas.count {
            guard let subjectQuotas = requestQuotas[place] else { continue }
            if let wait = subjectQuotas.takeRequest(now) {
                for earlier in 0..<place { requestQuotas[earlier]?.refundRequest() }
                tightest = subjectQuotas.rateState(now)
                throw subjectQuotas.rateRefusal(waitNanoseconds: wait)
            }
            note(subjectQuotas.rateState(now))
            note(subjectQuotas.dayState(now))
        }
    }

    /// Takes a notification that has passed all other checks.
    func takeNotification(
        _ requestQuotas: RequestQuotas, to address: DeviceTokenContents?, _ now: QuotaMoment
    ) throws(Rejection) {
        if let address { try takeFromDevice(address, now) }
        for place in 0..<RequestQuotas.count {
            guard let subjectQuotas = requestQuotas[place] else { continue }
            guard subjectQuotas.takeNotification(now) else {
                for earlier in 0..<place { requestQuotas[earlier]?.refundNotification(day: now.day) }
                tightest = subjectQuotas.dayState(now)
                throw subjectQuotas.dayRefusal(now)
            }
            note(subjectQuotas.dayState(now))
        }
    }

    private func takeFromDevice(_ address: DeviceTokenContents, _ now: QuotaMoment) throws(Rejection) {
        guard let devices = rules.devices else { return }
        switch devices.take(address.device, address.topic, now: now.monotonic) {
        case .taken(let remaining):
            // Only less than half a bucket is worth reporting; most senders never get that far.
            if remaining < devices.bucket.tokenCount / 2 { note(devices.bucket.state(remaining: remaining)) }
        case .refused(let wait):
            tightest = devices.bucket.state(remaining: 0)
            throw rules.defaults.deviceRefusal(waitNanoseconds: wait)
        }
    }

    /// Takes a device token that is not one of this server, or belongs to another app.
    func takeBadToken(_ requestQuotas: RequestQuotas, of team: String, _ now: QuotaMoment) throws(Rejection) {
        guard let subjectQuotas = requestQuotas.team, subjectQuotas.badTokens != nil else {
            guard let wait = quotas.takeDefaultBadToken(of: team, now) else { return }
            throw QuotaRefusal.badTokens(
                "Team \(team)", count: rules.defaults.defaultBadTokensPerTeam, waitNanoseconds: wait)
        }
        guard let wait = subjectQuotas.takeBadToken(now) else { return }
        tightest = subjectQuotas.badTokenState(now)
        throw subjectQuotas.badTokenRefusal(waitNanoseconds: wait)
    }

    private func note(_ state: QuotaState?) {
        guard let state, state.remaining < tightest?.remaining ?? .max else { return }
        tightest = state
    }
}

/// The quotas that a request counts for; nil for a party without limits.
struct RequestQuotas {
    var team: SubjectQuotas?
    var key: SubjectQuotas?
    var topic: SubjectQuotas?

    static let count = 3

    /// The quotas of team, key and app, in this order.
    subscript(place: Int) -> SubjectQuotas? {
        switch place {
        case 0: team
        case 1: key
        default: topic
        }
    }

    /// Whether any of the quotas has a daily limit.
    var countDays: Bool { team?.daily != nil || key?.daily != nil || topic?.daily != nil }
}
