// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore

/// `/v1/quotas`: the limits of teams, keys and apps.
struct AdminQuotas: AdminResource {
    let services: LoopServices

    private static let rate = AdminBody.Kind.number(
        0...Limits.quotaRateMax, meaning: "a whole number from 0, which is no limit, to \(Limits.quotaRateMax)")
    private static let burst = AdminBody.Kind.number(
        1...Limits.quotaRateMax, meaning: "a whole number from 1 to \(Limits.quotaRateMax)")
    private static let count = AdminBody.Kind.number(
        0...Limits.quotaCountMax, meaning: "a whole number from 0, which is no limit, to \(Limits.quotaCountMax)")
    private static let change = AdminBody(members: [
        AdminBody.Member(name: "rate", kind: rate), AdminBody.Member(name: "burst", kind: burst),
        AdminBody.Member(name: "daily", kind: count), AdminBody.Member(name: "bad_tokens", kind: count),
    ])

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        switch (exchange.method, rest.count) {
        case (.get, 0): sendQuotas(exchange)
        case (_, 0): AdminAnswer.refuseMethod(exchange, allowed: "GET")
        case (.get, 2), (.patch, 2), (.delete, 2):
            guard let subject = Self.subject(rest[0], rest[1], exchange) else { return }
            quota(exchange, connection, of: subject)
        case (_, 2): AdminAnswer.refuseMethod(exchange, allowed: "GET, PATCH, DELETE")
        default: AdminAnswer.refusePath(exchange)
        }
    }

    private func quota(_ exchange: HTTPExchange, _ connection: ServerConnection, of subject: QuotaSubject) {
        guard exchange.method != .patch else { return changeQuota(exchange, connection, of: subject) }
        if let refusal = refusal(of: subject) { return ControlAnswer.refuse(exchange, refusal) }
        guard exchange.method == .delete else { return sendQuotas(of: subject, exchange) }
        perform(.control(.quota(.clear(subject))), exchange, connection) { [self] _, exchange in
            services.context.quotas.set(subject, nil)
            ControlAnswer.sendNothing(exchange)
        }
    }

    /// Refuses a name that does not exist, so that a typo does not look like a name without limits.
    ///
    /// Only the store knows certificates, so every fingerprint is accepted.
    ///
    /// - Parameter subject: The team, key or app.
    /// - Returns: The refusal; nil if the subject may exist.
    private func refusal(of subject: QuotaSubject) -> StoreRefusal? {
        guard !services.context.quotas.subjects.contains(subject) else { return nil }
        switch subject.kind {
        case .team:
            let isKnown =
                subject.name == services.context.installation.teamID
                || services.directory.quotaSubjects.contains(subject)
            return isKnown ? nil : .unknownTeam
        case .topic: return services.directory.topic(named: Array(subject.name.utf8).span) == nil ? .unknownTopic : nil
        case .key:
            let isFingerprint = subject.name.utf8.count == Self.fingerprintDigitCount
            return services.directory.signer(subject.name) == nil && !isFingerprint ? .unknownKey : nil
        }
    }

    private static let fingerprintDigitCount = 64

    private func changeQuota(_ exchange: HTTPExchange, _ connection: ServerConnection, of subject: QuotaSubject) {
        guard let change = Self.change.read(QuotaLimits.self, of: exchange) else { return }
        // The store refuses unknown keys and apps.
        if subject.kind == .team, let refusal = refusal(of: subject) { return ControlAnswer.refuse(exchange, refusal) }
        guard !change.isEmpty else {
            return ControlAnswer.refuse(
                exchange, status: 400, "NoChange", "Send at least one of: rate, burst, daily, bad_tokens.")
        }
        guard change.badTokens == nil || subject.kind == .team else {
            return ControlAnswer.refuse(exchange, status: 400, "BadRequest", "bad_tokens is allowed for teams only.")
        }
        guard change.burst == nil || change.or(services.context.quotas.limits(of: subject)).rate.positive != nil else {
            return ControlAnswer.refuse(exchange, status: 400, "BadRequest", "burst requires a rate: send both.")
        }
        perform(.control(.quota(.change(subject, change))), exchange, connection) { [self] answer, exchange in
            guard case .quotas(let settings, _) = answer else { return }
            services.context.quotas.set(subject, settings[subject])
            sendQuotas(of: subject, exchange)
        }
    }

    private func sendQuotas(_ exchange: HTTPExchange) {
        let quotas = services.context.quotas
        let order = QuotaSubject.Kind.allCases
        let subjects = quotas.subjects.union(services.directory.quotaSubjects).sorted { left, right in
            let places = (order.firstIndex(of: left.kind), order.firstIndex(of: right.kind))
            return places.0 == places.1 ? left.name < right.name : (places.0 ?? 0) < (places.1 ?? 0)
        }
        let now = moment
        ControlAnswer.send(
            exchange,
            AdminAPI.Quotas(
                quotas: subjects.flatMap { quotas.quotas(of: $0, now) },
                deviceRate: quotas.rules.defaults.deviceRate.positive,
                deviceBurst: quotas.rules.devices?.bucket.tokenCount))
    }

    private func sendQuotas(of subject: QuotaSubject, _ exchange: HTTPExchange) {
        ControlAnswer.send(exchange, AdminAPI.Quotas(quotas: services.context.quotas.quotas(of: subject, moment)))
    }

    private var moment: QuotaMoment {
        QuotaMoment(
            monotonic: services.loop.events.now, time: .now)
    }

    /// Returns the subject that a path names, or answers the request if the path is invalid.
    private static func subject(_ word: String, _ name: String, _ exchange: HTTPExchange) -> QuotaSubject? {
        guard let kind = QuotaSubject.Kind(rawValue: word) else {
            AdminAnswer.refusePath(exchange)
            return nil
        }
        guard kind != .team || Identifier.isValid(name) else {
            ControlAnswer.refuse(
                exchange, status: 400, "BadTeamID", "Invalid team ID: use ten characters of A-Z and 0-9.")
            return nil
        }
        return QuotaSubject(kind, kind == .key && name.utf8.count == fingerprintDigitCount ? name.lowercased() : name)
    }
}
