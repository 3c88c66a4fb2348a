// SPDX-License-Identifier: Apache-2.0

/// What both ends of a WebSocket handshake must agree on.
///
/// - SeeAlso: RFC 6455, sections 1.3 and 4
package enum WebSocketHandshake {
    /// The one version.
    package static let version: StaticString = "13"
    /// Bytes of a key before base64.
    package static let keyByteCount = 16

    /// The text whose SHA-1, in base64, the server answers to a key in `sec-websocket-accept`.
    package static func acceptanceInput(key: Span<UInt8>) -> [UInt8] {
        var input: [UInt8] = []
        unsafe key.withUnsafeBufferPointer { unsafe input.append(contentsOf: $0) }
        input.append(contentsOf: "258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)
        return input
    }
}
