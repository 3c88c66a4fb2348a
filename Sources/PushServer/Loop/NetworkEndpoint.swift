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

    func bodyByteCountMax(_ exchange: HTTPExchange) -> Int {
        Self.isDevice(exchange) ? Limits.controlBodyByteCountMax : provider.bodyByteCountMax(exchange)
    }

    func answer(_ exchange: HTTPExchange, on connection: ServerConnection) {
        if Self.isDevice(exchange), !role.isForChannels {
            device.answer(exchange, on: connection)
        } else {
            provider.answer(exchange, on: connection)
        }
    }

    func giveUp(_ exchange: HTTPExchange) {
        if Self.isDevice(exchange), !role.isForChannels {
            ControlAnswer.giveUp(exchange)
        } else {
            provider.giveUp(exchange)
        }
    }

    private static func isDevice(_ exchange: HTTPExchange) -> Bool {
        let bytes = exchange.head.fields.bytes
        let path = bytes.span.extracting(exchange.head.path)
        return path.count >= 4 && path[0] == UInt8(ascii: "/") && path[1] == UInt8(ascii: "v")
            && path[2] == UInt8(ascii: "1") && path[3] == UInt8(ascii: "/")
    }
}
