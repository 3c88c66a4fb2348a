// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushServing

/// The public port: the provider API, the device API under `/v1/`, the send API, and the links of other nodes.
final class NetworkEndpoint: Endpoint {
    private let services: LoopServices
    private let streams: DeviceStreams
    private let provider: ProviderEndpoint
    private let device: DeviceEndpoint
    private let send: SendEndpoint
    /// Nil without a cluster.
    private let nodes: NodeEndpoint?
    private let role: PortRole

    init(_ services: LoopServices, _ streams: DeviceStreams, _ nodes: NodeEndpoint?, role: PortRole) {
        self.services = services
        self.streams = streams
        provider = ProviderEndpoint(services, role: role)
        device = DeviceEndpoint(services, streams)
        send = SendEndpoint(services)
        self.nodes = nodes
        self.role = role
    }

    /// The APIs of the port.
    private enum API {
        case provider, device, send
        case node(NodeEndpoint)
    }

    /// Returns the API of a request, usually from the first byte of its path.
    private func api(of exchange: HTTPExchange) -> API {
        guard !role.isForChannels else { return .provider }
        let bytes = exchange.head.fields.bytes
        let path = bytes.span.extracting(exchange.head.path)
        // The paths of the provider API begin with the number of its version.
        guard path.count > 1 else { return SendEndpoint.takes(exchange) ? .send : .provider }
        if path[1] >= UInt8(ascii: "0"), path[1] <= UInt8(ascii: "9") { return .provider }
        if Self.isVersioned(path) {
            if let nodes, NodeEndpoint.takes(path) { return .node(nodes) }
            return Self.isSend(path) ? .send : .device
        }
        return SendEndpoint.takes(exchange) ? .send : .provider
    }

    /// Returns the provider API if a request is for it; nil for the others.
    func provider(for exchange: HTTPExchange) -> ProviderEndpoint? {
        switch api(of: exchange) {
        case .provider: provider
        case .device, .send, .node: nil
        }
    }

    func connectionOpened(_ connection: ServerConnection) -> AnyObject? { NetworkPeer() }

    func headTooLarge(_ exchange: HTTPExchange) {
        ProviderAnswer.addOwnID(to: exchange, services.random)
        exchange.respond(status: 431)
    }

    func headArrived(_ exchange: HTTPExchange, on connection: ServerConnection) -> Int {
        switch api(of: exchange) {
        case .provider: provider.headArrived(exchange, on: connection)
        case .device: device.headArrived(exchange, on: connection)
        case .send: send.headArrived(exchange, on: connection)
        case .node: 0
        }
    }

    func answer(_ exchange: HTTPExchange, on connection: ServerConnection) {
        switch api(of: exchange) {
        case .provider: provider.answer(exchange, on: connection)
        case .device: device.answer(exchange, on: connection)
        case .send: send.answer(exchange, on: connection)
        case .node(let nodes): nodes.answer(exchange, on: connection)
        }
    }

    func recognize(_ exchange: HTTPExchange, on connection: ServerConnection) {
        provider(for: exchange)?.recognize(exchange, on: connection)
    }

    func refuseWhileClosing(_ exchange: HTTPExchange) {
        switch api(of: exchange) {
        case .provider: provider.refuseWhileClosing(exchange)
        case .device, .node: ControlAnswer.refuseStranger(exchange)
        case .send: send.refuseWhileClosing(exchange)
        }
    }

    func answerTimedOut(_ exchange: HTTPExchange) {
        switch api(of: exchange) {
        case .provider: provider.answerTimedOut(exchange)
        case .device, .node: ControlAnswer.answerTimedOut(exchange)
        case .send: send.answerTimedOut(exchange)
        }
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

    /// Returns whether a path begins with `/v1/`.
    private static func isVersioned(_ path: Span<UInt8>) -> Bool {
        path.count >= 4 && path[0] == UInt8(ascii: "/") && path[1] == UInt8(ascii: "v")
            && path[2] == UInt8(ascii: "1") && path[3] == UInt8(ascii: "/")
    }

    /// Returns whether a path begins with `/v1/send/`.
    private static func isSend(_ path: Span<UInt8>) -> Bool {
        path.count >= 9 && Bytes.areEqual(path.extracting(4..<9), "send/")
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
