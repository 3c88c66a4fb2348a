// SPDX-License-Identifier: Apache-2.0

package import PushNet

/// The counts of glitches and of reached limits of one thread's HTTP/2 sessions.
package final class HTTP2Metrics: Sendable {
    /// A limit that a peer reached.
    package enum Limit: Int, CaseIterable, Sendable {
        /// The session ends because of too many glitches.
        case glitches
        /// The session ends because the peer made the server reset too many streams.
        case resets
        /// The session ends because the peer does not read the responses.
        case unread
        /// A stream is refused because too many are open, or because they hold too much memory.
        case streams

        /// The stable word for the limit.
        package var word: String {
            switch self {
            case .glitches: "glitches"
            case .resets: "resets"
            case .unread: "unread"
            case .streams: "streams"
            }
        }
    }

    /// The number of glitches; `HTTPBounds` says what a glitch is.
    package let glitches = MetricCell()
    private let limits = MetricCells(count: Limit.allCases.count)

    package init() {}

    /// Returns how often a limit was reached.
    package func count(of limit: Limit) -> Int64 { limits[limit.rawValue] }

    func note(_ limit: Limit) { limits.add(to: limit.rawValue) }
}
