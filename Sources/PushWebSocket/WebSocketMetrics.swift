// SPDX-License-Identifier: Apache-2.0

package import PushNet

/// The counts of one thread's WebSocket connections.
package final class WebSocketMetrics: Sendable {
    /// A violation by the peer that ended a connection.
    package enum Failure: Int, CaseIterable, Sendable {
        /// A frame or a text violates the protocol.
        case frame
        /// A message has invalid content.
        case message
        /// The number of glitches reached its limit.
        case glitches
        /// A message is longer than the limit.
        case size
        /// The number of acknowledgements exceeds the limit.
        case acknowledgements
        /// The peer does not read the output, which reached its limit.
        case unread
        /// The peer does not answer a ping.
        case silence

        /// The stable word for the cause.
        package var word: String {
            switch self {
            case .frame: "frame"
            case .message: "message"
            case .glitches: "glitches"
            case .size: "size"
            case .acknowledgements: "acknowledgements"
            case .unread: "unread"
            case .silence: "silence"
            }
        }
    }

    /// The number of frames that `FrameBudget` counts as glitches.
    package let glitches = MetricCell()
    private let failures = MetricCells(count: Failure.allCases.count)

    package init() {}

    /// Returns the number of connections that ended because of a violation.
    package func count(of failure: Failure) -> Int64 { failures[failure.rawValue] }

    /// Counts a connection that ended because of a violation.
    package func note(_ failure: Failure) { failures.add(to: failure.rawValue) }
}
