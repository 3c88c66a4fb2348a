// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushServing

/// The public port: paths under `/v1/` are the device API, everything else is the provider API.
final class NetworkEndpoint: Endpoint {
    private let services: LoopServices
    private let streams: DeviceStreams
    private let provider: ProviderEndpoint
    private let device: DeviceEndpoint
    private let role: PortRole

    init(_ services: LoopServices, _ streams: DeviceStreams, role: PortRole) {
        self.services = services
        self.streams = streams
        provider = ProviderEndpoint(services, role: role)
        device = DeviceEndpoint(services, streams)
        self.role = role
    }

    /// Returns the provider API if a request is for it; nil for the device API.
    func provider(for exchange: HTTPExchange) -> ProviderEndpoint? {
        role.isForChannels || !Self.isDevice(exchange) ? provider : nil
    }

    func connectionOpened(_ connection: ServerConnection) -> AnyObject? { NetworkPeer() }

    func headTooLarge(_ exchange: HTTPExchange) {
        ProviderAnswer.addOwnID(to: exchange, services.random)
        exchange.respond(status: 431)
    }

    func headArrived(_ exchange: HTTPExchange, on connection: ServerConnection) -> Int {
        provider(for: exchange)?.headArrived(exchange, on: connection)
            ?? device.headArrived(exchange, on: connection)
    }

    func answer(_ exchange: HTTPExchange, on connection: ServerConnection) {
        guard let provider = provider(for: exchange) else { return device.answer(exchange, on: connection) }
        provider.answer(exchange, on: connection)
    }

    func recognize(_ exchange: HTTPExchange, on connection: ServerConnection) {
        provider(for: exchange)?.recognize(exchange, on: connection)
    }

    func refuseWhileClosing(_ exchange: HTTPExchange) {
        guard let provider = provider(for: exchange) else { return ControlAnswer.refuseStranger(exchange) }
        provider.refuseWhileClosing(exchange)
    }

    func answerTimedOut(_ exchange: HTTPExchange) {
        guard let provider = provider(for: exchange) else { return ControlAnswer.answerTimedOut(exchange) }
        provider.answerTimedOut(exchange)
    }

    func endStream(_ exchange: HTTPExchange, on connection: ServerConnection) -> Bool {
        connection.peer.carriesStream && streams.end(connection.address(of: exchange))
    }

    func exchangeEnded(_ exchange: HTTPExchange, on connection: ServerConnection) {
        // A guess counts even if the peer resets its request: a credential that the store has not checked yet is wrong.
        if connection.isStranger, exchange.context is StoreContinuation {
            _ = services.countWrongCredential(on: connection)
        }
        let peer = connection.peer
        services.endListing(exchange, of: peer)
        if peer.carriesStream { streams.exchangeEnded(connection.address(of: exchange)) }
    }

    func goodbye(_ reason: GoodbyeReason) -> [UInt8] { ProviderAnswer.body(reason.rejectionReason) }

    private static func isDevice(_ exchange: HTTPExchange) -> Bool {
        let bytes = exchange.head.fields.bytes
        let path = bytes.span.extracting(exchange.head.path)
        return path.count >= 4 && path[0] == UInt8(ascii: "/") && path[1] == UInt8(ascii: "v")
            && path[2] == UInt8(ascii: "1") && path[3] == UInt8(ascii: "/")
    }
}

extension GoodbyeReason {
    /// Apple's word for the reason.
    fileprivate var rejectionReason: RejectionReason {
        switch self {
        case .shutdown: .shutdown
        case .idle: .idleTimeout
        case .tooManyRequests: .tooManyRequests
        }
    }
}
