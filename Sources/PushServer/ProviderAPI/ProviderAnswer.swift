// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushTLS

/// The responses of the provider API.
enum ProviderAnswer {
    /// Rejects a request whose ID was added before.
    ///
    /// - Parameters:
    ///   - exchange: The request.
    ///   - rejection: The status, the body and `posthorn-detail`.
    ///   - metrics: The numbers of the loop.
    ///   - invalidSince: The time since which the device token is invalid, for status 410 only. Nil means now,
    ///     because clients expect a time.
    ///   - body: The body of the rejection, if it was encoded before.
    static func reject(
        _ exchange: HTTPExchange, _ rejection: Rejection, countedBy metrics: APIMetrics,
        invalidSince: Timestamp? = nil, body: [UInt8]? = nil
    ) {
        let reason = rejection.reason
        metrics.note(reason)
        exchange.addField("content-type", "application/json")
        exchange.addRepeatedField("posthorn-detail", rejection.detail.utf8.span)
        if let seconds = rejection.retryAfterSeconds {
            exchange.addField("retry-after", "\(seconds)".utf8.span)
        } else if reason.status == 503 {
            exchange.addField("retry-after", "10")
        }
        let time = reason.status == 410 ? invalidSince ?? .now : nil
        exchange.respond(status: reason.status, body: body ?? Self.body(reason, invalidSince: time))
    }

    /// Rejects a request for the reason that the store returned.
    static func reject(
        _ exchange: HTTPExchange, refusedByStore reason: RejectionReason, _ condition: StoreCondition,
        countedBy metrics: APIMetrics, invalidSince: Timestamp?
    ) {
        let rejection =
            switch reason {
            // The provider API has checked the syntax of the expiration; the store knows what the channel stores.
            case .badExpirationDate: Rejection(reason, "This channel stores nothing. Set apns-expiration to 0.")
            case .serviceUnavailable: condition.rejection
            default: Rejection(reason)
            }
        reject(exchange, rejection, countedBy: metrics, invalidSince: invalidSince)
    }

    /// Returns `{"reason":"…"}`, with the time if there is one; short, because some clients never widen their window.
    static func body(_ reason: RejectionReason, invalidSince: Timestamp? = nil) -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(64)
        body += "{\"reason\":\"".utf8
        body += reason.rawValue.utf8
        body.append(UInt8(ascii: "\""))
        if let invalidSince {
            body += ",\"timestamp\":".utf8
            Decimal.append(invalidSince.unixMilliseconds, to: &body)
        }
        body.append(UInt8(ascii: "}"))
        return body
    }

    /// Adds an `apns-id` of the server, for a request whose own cannot be read.
    static func addOwnID(to exchange: HTTPExchange, _ random: RandomNumbers) {
        let text = UniqueID.random(random).upperCaseText
        exchange.addField("apns-id", text.span)
    }

    /// Answers 200 without a body, because the store has accepted the notification.
    static func accept(_ exchange: HTTPExchange) {
        let (high, low) = exchange.keptNumbers
        let text = UniqueID(high: high, low: low).lowerCaseText
        exchange.addField("apns-unique-id", text.span)
        if let warnings = exchange.context as? PayloadWarnings {
            for line in warnings.lines { exchange.addRepeatedField("posthorn-warning", line.utf8.span) }
        }
        exchange.respond(status: 200)
    }
}

extension HTTPExchange {
    /// Keeps the unique ID of a notification that was passed to the store, for `ProviderAnswer.accept`.
    func keep(_ id: UniqueID) { keptNumbers = (id.high, id.low) }
}
