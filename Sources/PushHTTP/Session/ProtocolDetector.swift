// SPDX-License-Identifier: Apache-2.0

/// Distinguishes HTTP/2 from HTTP/1.1 by the first bytes of a connection without ALPN.
package enum ProtocolDetector {
    /// The protocol that the first bytes belong to.
    package enum Verdict: Sendable {
        /// The HTTP/2 connection preface.
        case http2
        /// Any bytes other than the HTTP/2 connection preface.
        case http1
        /// An incomplete preface.
        case needsMore
    }

    /// The first bytes of every HTTP/2 connection.
    ///
    /// - SeeAlso: RFC 9113, section 3.4
    static let preface: StaticString = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

    /// Returns the protocol of a connection from all bytes received so far; 24 bytes are always enough.
    package static func look(at bytes: Span<UInt8>) -> Verdict {
        preface.withUTF8Buffer { expected in
            for index in 0..<expected.count {
                guard index < bytes.count else { return .needsMore }
                guard unsafe bytes[index] == expected[index] else { return .http1 }
            }
            return .http2
        }
    }
}
