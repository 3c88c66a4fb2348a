// SPDX-License-Identifier: Apache-2.0

/// The protocol of links, and their bounds.
package struct LinkSettings: Sendable {
    /// The path of the request that opens a link.
    package static let path = "/v1/node"
    /// The subprotocol of the WebSocket.
    package static let subprotocol = "posthorn.node.v1"
    /// The maximum number of nodes in a cluster, and of nodes to which links are kept.
    package static let nodeCountMax = 100
    /// The maximum size of what waits for a link in bytes; beyond it, the link counts as down.
    package static let waitingByteCountMax = 8 << 20
    /// The number of unanswered pings after which a link counts as down.
    package static let unansweredPingCountMax = 3

    /// The interval of pings in milliseconds.
    package var pingMilliseconds: Int64 = 1_000
    /// The time within which a new connection must become a link, in milliseconds.
    package var attemptMilliseconds: Int64 = 3_000

    package init() {}
}
