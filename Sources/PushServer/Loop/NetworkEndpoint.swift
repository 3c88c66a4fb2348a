// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP

/// The public port: paths under `/v1/` are the device API, everything else is the provider API.
final class NetworkEndpoint: Endpoint {
    private let provider: ProviderEndpoint
    private let device: DeviceEndpoint

    init(loop: ServerLoop) {
        provider = ProviderEndpoint(loop: loop)
        device = DeviceEndpoint(loop: loop)
    }

    func bodyByteCountMax(_ exchange: HTTPExchange) -> Int {
        Self.isDevice(exchange) ? Limits.controlBodyByteCountMax : Limits.voipPayloadByteCountMax
    }

    func answer(_ exchange: HTTPExchange, on connection: ServerConnection) {
        if Self.isDevice(exchange) {
            device.answer(exchange, on: connection)
        } else {
            provider.answer(exchange, on: connection)
        }
    }

    private static func isDevice(_ exchange: HTTPExchange) -> Bool {
        let bytes = exchange.fields.bytes
        let path = bytes.span.extracting(exchange.path)
        return path.count >= 4 && path[0] == UInt8(ascii: "/") && path[1] == UInt8(ascii: "v")
            && path[2] == UInt8(ascii: "1") && path[3] == UInt8(ascii: "/")
    }
}
