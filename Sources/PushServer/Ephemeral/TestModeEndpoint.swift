// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushServing

/// The public port of a server for tests: rejects requests of providers as a test ordered, and passes on all others.
final class TestModeEndpoint: Endpoint {
    private let network: NetworkEndpoint
    private let failures: InjectedFailures

    init(_ network: NetworkEndpoint, _ failures: InjectedFailures) {
        self.network = network
        self.failures = failures
    }

    func answer(_ exchange: HTTPExchange, on connection: ServerConnection) {
        guard let provider = network.provider(for: exchange), let reason = failures.take() else {
            return network.answer(exchange, on: connection)
        }
        provider.reject(exchange, Rejection(reason), on: connection)
    }

    func headArrived(_ exchange: HTTPExchange, on connection: ServerConnection) -> Int {
        network.headArrived(exchange, on: connection)
    }

    func recognize(_ exchange: HTTPExchange, on connection: ServerConnection) {
        network.recognize(exchange, on: connection)
    }

    func connectionOpened(_ connection: ServerConnection) -> AnyObject? { network.connectionOpened(connection) }
    func headTooLarge(_ exchange: HTTPExchange) { network.headTooLarge(exchange) }
    func goodbye(_ reason: GoodbyeReason) -> [UInt8] { network.goodbye(reason) }

    func endStream(_ exchange: HTTPExchange, on connection: ServerConnection) -> Bool {
        network.endStream(exchange, on: connection)
    }

    func exchangeEnded(_ exchange: HTTPExchange, on connection: ServerConnection) {
        network.exchangeEnded(exchange, on: connection)
    }

    func refuseWhileClosing(_ exchange: HTTPExchange) { network.refuseWhileClosing(exchange) }
    func answerTimedOut(_ exchange: HTTPExchange) { network.answerTimedOut(exchange) }
}
