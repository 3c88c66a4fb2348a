// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet

/// Peers that prove no credential: they take from the buckets of their network.
///
/// A good credential costs nothing and is checked even when the buckets are empty, so an attacker cannot lock out a network.
/// An empty bucket means that a connection has one try.
extension ServerLoop {
    /// Whether another credential of a connection is looked at now.
    ///
    /// - Parameter connection: A connection whose request brought a credential that is not known to be good.
    /// - Returns: False when its network has used its budget and the connection has had its one try.
    func allowsProof(on connection: ServerConnection) -> Bool {
        connection.proofCount += 1
        guard connection.proofCount > 1 else { return true }
        return !context.rates.hasNoCredentialLeft(connection.source.network, now: rateMoment)
    }

    /// Counts a wrong credential; ends the connection behind its answer when it, or its network, brought too many.
    ///
    /// - Parameter connection: The connection that brought it.
    /// - Returns: Nil, or seconds to wait when the network's budget is used up.
    func countWrongCredential(on connection: ServerConnection) -> Int64? {
        let network = connection.source.network
        connection.wrongCredentialCount += 1
        let wait = context.rates.takeWrongCredential(of: network, now: rateMoment)
        let isTooMuch = connection.wrongCredentialCount >= Limits.wrongCredentialPerConnectionCountMax
        if wait != nil || isTooMuch { connection.endBehindAnswers(because: .tooManyRequests) }
        return wait
    }

    /// Counts a refused request of a stranger; nil, or seconds to wait, and then the connection ends behind its answer.
    func countStrangerRequest(on connection: ServerConnection) -> Int64? {
        guard connection.principal.isStranger else { return nil }
        let wait = context.rates.takeRequest(of: connection.source.network, now: rateMoment)
        if wait != nil { connection.endBehindAnswers(because: .tooManyRequests) }
        return wait
    }

    /// The moment that rates go by, in monotonic nanoseconds.
    var rateMoment: Int64 { Int64(clamping: events.monotonicNanoseconds) }
}

extension ControlAnswer {
    /// Refuses what comes too often.
    static func refuseRate(_ exchange: HTTPExchange, _ detail: String, retryAfterSeconds: Int64) {
        refuse(exchange, status: 429, "TooMany", detail, retryAfterSeconds: retryAfterSeconds)
    }

    /// Refuses a stranger whose network has used its budget.
    static func refuseStranger(_ exchange: HTTPExchange, retryAfterSeconds: Int64 = 1) {
        refuseRate(
            exchange, "Too many requests from this network prove no credential: wait as retry-after says.",
            retryAfterSeconds: retryAfterSeconds)
    }
}
