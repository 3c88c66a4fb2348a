// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing

/// Rates for peers that have not proven a credential, counted by network.
///
/// A valid credential costs nothing and is checked even when the buckets are empty, so an attacker cannot lock out a
/// network. When a bucket is empty, each connection has one attempt.
extension LoopServices {
    /// Returns whether another credential of a connection is checked now.
    ///
    /// - Parameter connection: A connection whose request has a credential that is not known to be valid.
    /// - Returns: False if the network has used its budget and the connection its one attempt.
    func allowsProof(on connection: ServerConnection) -> Bool {
        guard connection.peer.hasTriedCredential else {
            connection.peer.hasTriedCredential = true
            return true
        }
        return !settings.rates.hasNoCredentialLeft(connection.source.network, now: loop.events.now)
    }

    /// Counts a wrong credential; closes the connection after its answer if it, or its network, sent too many.
    ///
    /// - Parameter connection: The connection that sent the credential.
    /// - Returns: The seconds to wait if the network's budget is used up, else nil.
    func countWrongCredential(on connection: ServerConnection) -> Int64? {
        let network = connection.source.network
        connection.peer.wrongCredentialCount &+= 1
        let wait = settings.rates.takeWrongCredential(of: network, now: loop.events.now)
        let isTooMuch = connection.peer.wrongCredentialCount >= Limits.wrongCredentialPerConnectionCountMax
        if wait != nil || isTooMuch { connection.endAfterAnswers(because: .tooManyRequests) }
        return wait
    }

    /// Counts a refused request of a stranger.
    ///
    /// If the network's budget is used up, the connection closes after its answer.
    ///
    /// - Parameter connection: The connection that sent the request.
    /// - Returns: The seconds to wait if the budget is used up, else nil.
    func countStrangerRequest(on connection: ServerConnection) -> Int64? {
        guard connection.isStranger else { return nil }
        let wait = settings.rates.takeRequest(of: connection.source.network, now: loop.events.now)
        if wait != nil { connection.endAfterAnswers(because: .tooManyRequests) }
        return wait
    }
}

extension ControlAnswer {
    /// Refuses a request that exceeds a rate.
    static func refuseRate(_ exchange: HTTPExchange, _ detail: String, retryAfterSeconds: Int64) {
        refuse(exchange, status: 429, "TooMany", detail, retryAfterSeconds: retryAfterSeconds)
    }

    /// Refuses a stranger whose network has used its budget.
    static func refuseStranger(_ exchange: HTTPExchange, retryAfterSeconds: Int64 = 1) {
        refuseRate(
            exchange, "Too many requests from this network have no valid credential. Wait for the time in retry-after.",
            retryAfterSeconds: retryAfterSeconds)
    }
}
