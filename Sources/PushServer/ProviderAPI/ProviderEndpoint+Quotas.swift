// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushStore

/// Where requests meet rates and quotas.
extension ProviderEndpoint {
    /// Counts a request for its sender and app, as soon as both are known.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - sender: Who sends it.
    ///   - app: What it is about.
    /// - Returns: Whom it counts for.
    /// - Throws: `TooManyRequests`.
    @discardableResult
    func takeRequest(
        _ request: ProviderRequest, from sender: Sender, _ app: TopicDirectory.Entry
    ) throws(Rejection) -> Allowances {
        let now = moment(of: request)
        let allowances = quotas.allowances(key: sender.id, app.topic, now)
        try quotas.takeRequest(allowances, now)
        return allowances
    }

    /// Counts a notification or broadcast that is good in everything else.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - allowances: Whom it counts for.
    ///   - address: Where it goes; nil for a broadcast.
    ///   - warnings: What the answer will warn of.
    /// - Returns: The exchange's context: the warnings, and what to give back when the store refuses the notification.
    /// - Throws: `TooManyRequests`.
    func takeNotification(
        _ request: ProviderRequest, for allowances: Allowances, to address: DeviceTokenContents?,
        _ warnings: PayloadWarnings?
    ) throws(Rejection) -> PayloadWarnings? {
        let now = moment(of: request)
        try quotas.takeNotification(allowances, to: address, now)
        guard allowances.countDays else { return warnings }
        return PayloadWarnings(lines: warnings?.lines ?? [], counted: CountedNotification(allowances, day: now.day))
    }

    /// Counts a device token that is refused.
    ///
    /// - Parameters:
    ///   - rejection: Why it is.
    ///   - request: The request.
    ///   - allowances: The limits that hold for it.
    ///   - team: The team of the app.
    /// - Returns: The same, or `TooManyRequests`.
    func takeBadToken(
        _ rejection: Rejection, _ request: ProviderRequest, for allowances: Allowances, of team: String
    ) -> Rejection {
        do throws(Rejection) {
            try quotas.takeBadToken(allowances, of: team, moment(of: request))
            return rejection
        } catch {
            return error
        }
    }

    /// Tells the sender how much is left of the limit of which least is left.
    /// - SeeAlso: draft-ietf-httpapi-ratelimit-headers-06
    func addRateFields(to exchange: HTTPExchange) {
        guard let state = quotas.tightest else { return }
        exchange.addField("ratelimit-limit", Self.digits(state.limit).span)
        exchange.addField("ratelimit-remaining", Self.digits(state.remaining).span)
        exchange.addField("ratelimit-reset", Self.digits(state.resetSeconds).span)
    }

    private static func digits(_ value: Int64) -> [UInt8] {
        var digits: [UInt8] = []
        Decimal.append(value, to: &digits)
        return digits
    }

    private func moment(of request: ProviderRequest) -> QuotaMoment {
        QuotaMoment(
            monotonicNanoseconds: Int64(clamping: loop.events.monotonicNanoseconds), unixSeconds: request.now / 1000)
    }
}

/// A notification that was counted and is on its way to the store.
struct CountedNotification {
    private let allowances: Allowances
    private let day: Int64

    init(_ allowances: Allowances, day: Int64) {
        self.allowances = allowances
        self.day = day
    }

    /// The store refused it.
    func giveBack() {
        for place in 0..<Allowances.count { allowances[place]?.giveNotificationBack(day: day) }
    }
}
