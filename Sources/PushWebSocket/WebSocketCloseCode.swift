// SPDX-License-Identifier: Apache-2.0

/// The reason for closing a WebSocket connection, as in its close frame.
///
/// - SeeAlso: RFC 6455, section 7.4.1
package struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    package let rawValue: UInt16

    /// Creates a code from any number; only 1000 to 4999 may be sent, without the numbers that stand for no code.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The purpose of the connection is fulfilled.
    package static let normal = WebSocketCloseCode(rawValue: 1000)
    /// The server shuts down, or the client leaves.
    package static let goingAway = WebSocketCloseCode(rawValue: 1001)
    /// A frame violates the protocol.
    static let protocolError = WebSocketCloseCode(rawValue: 1002)
    /// The type of a message is not supported.
    static let unsupportedData = WebSocketCloseCode(rawValue: 1003)
    /// A received close frame has no code; this code is never sent.
    static let noStatus = WebSocketCloseCode(rawValue: 1005)
    /// The bytes of a message are invalid for its type.
    package static let invalidPayload = WebSocketCloseCode(rawValue: 1007)
    /// A message is valid but not allowed.
    package static let policyViolation = WebSocketCloseCode(rawValue: 1008)
    /// A message is longer than the limit.
    package static let messageTooBig = WebSocketCloseCode(rawValue: 1009)
    /// The server cannot fulfill the request now.
    static let internalError = WebSocketCloseCode(rawValue: 1011)
}
