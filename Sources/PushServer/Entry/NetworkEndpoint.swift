// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP

/// The public port: paths under `/v1/` are the device API, everything else is the provider API.
final class NetworkEndpoint: Endpoint {
    private let provider: ProviderEndpoint
    private let device: DeviceEndpoint
    private let role: PortRole

    init(loop: ServerLoop, role: PortRole) {
        provider = ProviderEndpoint(loop: loop, role: role)
        device = DeviceEndpoint(loop: loop)
        self.role = role
    }

    /// Returns the provider API if a request is for it; nil for the device API.
    func provider(for exchange: HTTPExchange) -> ProviderEndpoint? {
        role.isForChannels || !Self.isDevice(exchange) ? provider : nil
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

    func turnAway(_ exchange: HTTPExchange) {
        guard let provider = provider(for: exchange) else { return ControlAnswer.refuseStranger(exchange) }
        provider.turnAway(exchange)
    }

    func giveUp(_ exchange: HTTPExchange) {
        guard let provider = provider(for: exchange) else { return ControlAnswer.giveUp(exchange) }
        provider.giveUp(exchange)
    }

    private static func isDevice(_ exchange: HTTPExchange) -> Bool {
        let bytes = exchange.head.fields.bytes
        let path = bytes.span.extracting(exchange.head.path)
        return path.count >= 4 && path[0] == UInt8(ascii: "/") && path[1] == UInt8(ascii: "v")
            && path[2] == UInt8(ascii: "1") && path[3] == UInt8(ascii: "/")
    }
}
