// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore

/// The rates and quotas of provider requests.
extension ProviderEndpoint {
    /// Counts a request for its sender and app, as soon as both are known.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - sender: The sender of the request.
    ///   - app: The app of the request.
    /// - Returns: The quotas that the request counts for.
    /// - Throws: `TooManyRequests`.
    @discardableResult
    func takeRequest(
        _ request: ProviderRequest, from sender: Sender, _ app: TopicDirectory.Entry
    ) throws(Rejection) -> RequestQuotas {
        let now = moment(of: request)
        let requestQuotas = quotas.requestQuotas(key: sender.id, app.topic, now)
        try quotas.takeRequest(requestQuotas, now)
        return requestQuotas
    }

    /// Counts a notification or broadcast that has passed all other checks.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - requestQuotas: The quotas that the request counts for.
    ///   - address: The destination; nil for a broadcast.
    ///   - warnings: The warnings for the response.
    /// - Returns: The exchange's context: the warnings, and the counts to undo if the store refuses the notification.
    /// - Throws: `TooManyRequests`.
    func takeNotification(
        _ request: ProviderRequest, for requestQuotas: RequestQuotas, to address: DeviceTokenContents?,
        _ warnings: PayloadWarnings?
    ) throws(Rejection) -> PayloadWarnings? {
        let now = moment(of: request)
        try quotas.takeNotification(requestQuotas, to: address, now)
        guard requestQuotas.countDays else { return warnings }
        return PayloadWarnings(lines: warnings?.lines ?? [], counted: CountedNotification(requestQuotas, day: now.day))
    }

    /// Counts a device token that is refused.
    ///
    /// - Parameters:
    ///   - rejection: The reason for the refusal.
    ///   - request: The request.
    ///   - requestQuotas: The quotas that the request counts for.
    ///   - team: The team of the app.
    /// - Returns: The same rejection, or `TooManyRequests`.
    func takeBadToken(
        _ rejection: Rejection, _ request: ProviderRequest, for requestQuotas: RequestQuotas, of team: String
    ) -> Rejection {
        do throws(Rejection) {
            try quotas.takeBadToken(requestQuotas, of: team, moment(of: request))
            return rejection
        } catch {
            return error
        }
    }

    /// Reports the limit with the least remaining to the sender.
    ///
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
            monotonic: services.loop.events.now, time: request.now)
    }
}

/// A notification that was counted and is on its way to the store.
struct CountedNotification {
    private let requestQuotas: RequestQuotas
    private let day: Int64

    init(_ requestQuotas: RequestQuotas, day: Int64) {
        self.requestQuotas = requestQuotas
        self.day = day
    }

    /// Undoes the counts, because the store refused the notification.
    func refund() {
        for place in 0..<RequestQuotas.count { requestQuotas[place]?.refundNotification(day: day) }
    }
}
