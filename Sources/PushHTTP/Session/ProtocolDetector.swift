// SPDX-License-Identifier: Apache-2.0

/// Tells the two protocols apart by the first bytes of a connection without ALPN.
package enum ProtocolDetector {
    /// What the first bytes say.
    package enum Verdict: Sendable {
        /// The HTTP/2 connection preface.
        case http2
        /// Anything else.
        case http1
        /// So far the beginning of the preface.
        case needsMore
    }

    /// The first bytes of every HTTP/2 connection.
    ///
    /// - SeeAlso: RFC 9113, section 3.4
    static let preface: StaticString = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

    /// Looks at all bytes received so far; 24 always suffice.
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
