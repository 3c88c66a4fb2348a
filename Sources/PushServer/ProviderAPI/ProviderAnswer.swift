// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushTLS

/// Answers of the provider API.
enum ProviderAnswer {
    /// Refuses a request; its id was added before.
    ///
    /// - Parameters:
    ///   - exchange: What is answered.
    ///   - rejection: Gives status, body and `posthorn-detail`.
    ///   - unixMilliseconds: With 410 only: since when the device token is not good any more; now when nil, because
    ///     clients look for it.
    ///   - body: The rejection's body, if it was made already.
    static func reject(
        _ exchange: HTTPExchange, _ rejection: Rejection, unixMilliseconds: Int64? = nil, body: [UInt8]? = nil
    ) {
        let reason = rejection.reason
        exchange.addField("content-type", "application/json")
        exchange.addRepeatedField("posthorn-detail", rejection.detail.utf8.span)
        if let seconds = rejection.retryAfterSeconds {
            exchange.addField("retry-after", "\(seconds)".utf8.span)
        } else if reason.status == 503 {
            exchange.addField("retry-after", "10")
        }
        let time = reason.status == 410 ? unixMilliseconds ?? WallClock.unixMilliseconds() : nil
        exchange.respond(status: reason.status, body: body ?? Self.body(reason, unixMilliseconds: time))
    }

    /// Refuses what the store refused.
    static func reject(
        _ exchange: HTTPExchange, refusedByStore reason: RejectionReason, _ condition: StoreCondition,
        unixMilliseconds: Int64?
    ) {
        let rejection =
            switch reason {
            // The provider API has checked the form of an expiration; the store knows what the channel keeps.
            case .badExpirationDate: Rejection(reason, "This channel stores nothing: set apns-expiration to 0.")
            case .serviceUnavailable: condition.rejection
            default: Rejection(reason)
            }
        reject(exchange, rejection, unixMilliseconds: unixMilliseconds)
    }

    /// `{"reason":"…"}`, with a timestamp where there is one; short, because some clients never widen their window.
    static func body(_ reason: RejectionReason, unixMilliseconds: Int64? = nil) -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(64)
        body += "{\"reason\":\"".utf8
        body += reason.rawValue.utf8
        body.append(UInt8(ascii: "\""))
        if let unixMilliseconds {
            body += ",\"timestamp\":".utf8
            Decimal.append(unixMilliseconds, to: &body)
        }
        body.append(UInt8(ascii: "}"))
        return body
    }

    /// Adds an `apns-id` of ours, for a request whose own cannot be read.
    static func addOwnID(to exchange: HTTPExchange, _ random: RandomNumbers) {
        let text = UniqueID.random(random).upperCaseText
        exchange.addField("apns-id", text.span)
    }

    /// The store has accepted what was sent: 200 without a body.
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
    /// Remembers the unique id of what was handed to the store, for `ProviderAnswer.accept`.
    func keep(_ id: UniqueID) { keptNumbers = (id.high, id.low) }
}
