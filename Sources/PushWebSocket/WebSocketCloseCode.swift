// SPDX-License-Identifier: Apache-2.0

/// Why a WebSocket connection closes, as its close frame says.
///
/// - SeeAlso: RFC 6455, section 7.4.1
package struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    package let rawValue: UInt16

    /// Takes any number; only 1000 to 4999, without those that stand for no code, may be sent.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// All is said.
    package static let normal = WebSocketCloseCode(rawValue: 1000)
    /// The server stops, or the client leaves.
    package static let goingAway = WebSocketCloseCode(rawValue: 1001)
    /// A frame breaks the protocol.
    package static let protocolError = WebSocketCloseCode(rawValue: 1002)
    /// A message of a kind that is not taken.
    package static let unsupportedData = WebSocketCloseCode(rawValue: 1003)
    /// Never sent: a close frame came without a code.
    package static let noStatus = WebSocketCloseCode(rawValue: 1005)
    /// A message whose bytes are not what its kind says.
    package static let invalidPayload = WebSocketCloseCode(rawValue: 1007)
    /// A message that is understood and not allowed.
    package static let policyViolation = WebSocketCloseCode(rawValue: 1008)
    /// A message that is too big.
    package static let messageTooBig = WebSocketCloseCode(rawValue: 1009)
    /// The server cannot do it now.
    package static let internalError = WebSocketCloseCode(rawValue: 1011)
}
