// SPDX-License-Identifier: Apache-2.0

/// The constants of the WebSocket handshake, shared by client and server.
///
/// - SeeAlso: RFC 6455, sections 1.3 and 4
package enum WebSocketHandshake {
    /// The only protocol version.
    package static let version: StaticString = "13"
    /// The number of bytes in a key before base64.
    package static let keyByteCount = 16

    /// Returns the text whose SHA-1 hash, in base64, is the server's `sec-websocket-accept` for a key.
    package static func acceptanceInput(key: Span<UInt8>) -> [UInt8] {
        var input: [UInt8] = []
        unsafe key.withUnsafeBufferPointer { unsafe input.append(contentsOf: $0) }
        input.append(contentsOf: "258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)
        return input
    }
}
