// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushServing
internal import PushStore

/// Checks the quotas for one loop, and caches the allowances of recent senders so that these take no lock.
///
/// ```
/// sender and topic known ─▶ takeRequest: rates of team, key, app ─▶ checks ─▶ takeNotification: device token's rate,
///                                                                │           day of team, key, app
///                                                                └─▶ bad token: takeBadToken
/// ```
/// A request that `takeRequest` refuses counts for no limit. A notification that `takeNotification` refuses still counts
/// as a request for the rates of its team, key and app.
final class LoopQuotas {
    private let quotas: Quotas
    private var version: UInt64 = 0
    private var known: [QuotaSubject: Allowance?] = [:]
    /// The allowances of the last request; the next one usually has the same sender and app.
    private var last: (key: String, topic: TopicID, allowances: Allowances)?
    private var hasTeams = false
    private var hasKeys = false
    private var hasTopics = false
    /// The state that the response reports, which is that of the limit with the least remaining.
    private(set) var tightest: QuotaState?

    init(_ quotas: Quotas) { self.quotas = quotas }

    /// Resets the reported state for another request.
    func begin() { tightest = nil }

    /// Returns the allowances that a request counts for.
    ///
    /// - Parameters:
    ///   - key: The ID of the sender's key or certificate.
    ///   - topic: The app, which determines the team.
    ///   - now: The current time.
    /// - Returns: The allowances of those that have limits.
    func allowances(key: String, _ topic: Topic, _ now: QuotaMoment) -> Allowances {
        if quotas.version != version { refresh() }
        guard hasTeams || hasKeys || hasTopics else { return Allowances() }
        if let last, last.topic == topic.id, last.key == key { return last.allowances }
        let allowances = Allowances(
            team: hasTeams ? allowance(QuotaSubject(.team, topic.teamID), now) : nil,
            key: hasKeys ? allowance(QuotaSubject(.key, key), now) : nil,
            topic: hasTopics ? allowance(QuotaSubject(.topic, topic.name.text), now) : nil)
        last = (key, topic.id, allowances)
        return allowances
    }

    private func refresh() {
        version = quotas.version
        last = nil
        known.removeAll(keepingCapacity: true)
        (hasTeams, hasKeys, hasTopics) = (
            quotas.limits(any: .team), quotas.limits(any: .key), quotas.limits(any: .topic)
        )
    }

    private func allowance(_ subject: QuotaSubject, _ now: QuotaMoment) -> Allowance? {
        if let found = known[subject] { return found }
        if known.count >= Limits.quotaSubjectCountMax { known.removeAll(keepingCapacity: true) }
        let found = quotas.allowance(of: subject, now)
        known[subject] = .some(found)
        return found
    }

    // MARK: Taking

    /// Takes a request of any kind.
    func takeRequest(_ allowances: Allowances, _ now: QuotaMoment) throws(Rejection) {
        for place in 0..<Allowances.count {
            guard let allowance = allowances[place] else { continue }
            if let wait = allowance.takeRequest(now) {
                for earlier in 0..<place { allowances[earlier]?.giveRequestBack() }
                tightest = allowance.rateState(now)
                throw allowance.rateRefusal(waitNanoseconds: wait)
            }
            note(allowance.rateState(now))
            note(allowance.dayState(now))
        }
    }

    /// Takes a notification that has passed all other checks.
    func takeNotification(
        _ allowances: Allowances, to address: DeviceTokenContents?, _ now: QuotaMoment
    ) throws(Rejection) {
        if let address { try takeFromDevice(address, now) }
        for place in 0..<Allowances.count {
            guard let allowance = allowances[place] else { continue }
            guard allowance.takeNotification(now) else {
                for earlier in 0..<place { allowances[earlier]?.giveNotificationBack(day: now.day) }
                tightest = allowance.dayState(now)
                throw allowance.dayRefusal(now)
            }
            note(allowance.dayState(now))
        }
    }

    private func takeFromDevice(_ address: DeviceTokenContents, _ now: QuotaMoment) throws(Rejection) {
        guard let devices = quotas.devices else { return }
        switch devices.take(address.device, address.topic, now: now.monotonic) {
        case .taken(let remaining):
            // Only less than half a bucket is worth reporting; most senders never get that far.
            if remaining < devices.bucket.tokenCount / 2 { note(devices.bucket.state(remaining: remaining)) }
        case .refused(let wait):
            tightest = devices.bucket.state(remaining: 0)
            throw quotas.defaults.deviceRefusal(waitNanoseconds: wait)
        }
    }

    /// Takes a device token that is not one of this server, or belongs to another app.
    func takeBadToken(_ allowances: Allowances, of team: String, _ now: QuotaMoment) throws(Rejection) {
        guard let allowance = allowances.team, allowance.badTokens != nil else {
            guard let wait = quotas.takeUnsetBadToken(of: team, now) else { return }
            throw QuotaRefusal.badTokens(
                "Team \(team)", count: quotas.defaults.unsetBadTokens, waitNanoseconds: wait)
        }
        guard let wait = allowance.takeBadToken(now) else { return }
        tightest = allowance.badTokenState(now)
        throw allowance.badTokenRefusal(waitNanoseconds: wait)
    }

    private func note(_ state: QuotaState?) {
        guard let state, state.remaining < tightest?.remaining ?? .max else { return }
        tightest = state
    }
}

/// The allowances that a request counts for; nil for a party without limits.
struct Allowances {
    var team: Allowance?
    var key: Allowance?
    var topic: Allowance?

    static let count = 3

    /// The allowances of team, key and app, in this order.
    subscript(place: Int) -> Allowance? {
        switch place {
        case 0: team
        case 1: key
        default: topic
        }
    }

    /// Whether any of the allowances has a daily limit.
    var countDays: Bool { team?.daily != nil || key?.daily != nil || topic?.daily != nil }
}
