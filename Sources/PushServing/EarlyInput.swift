// SPDX-License-Identifier: Apache-2.0

internal import PushHTTP
internal import PushTLS

/// The first bytes of a connection, kept until they identify the protocol.
struct EarlyInput {
    private(set) var bytes: [UInt8] = []

    /// Adds input.
    ///
    /// - Parameter input: The next bytes from the peer.
    /// - Returns: The protocol and all bytes so far, which are no longer kept; nil if more bytes are needed.
    mutating func take(_ input: Span<UInt8>) -> (version: TLSConnection.Application, bytes: [UInt8])? {
        for index in input.indices { bytes.append(input[index]) }
        let version: TLSConnection.Application
        switch ProtocolDetector.look(at: bytes.span) {
        case .needsMore: return nil
        case .http2: version = .http2
        case .http1: version = .http1
        }
        defer { bytes = [] }
        return (version, bytes)
    }
}
