// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// The link to one node: at most one connection, and the messages of this turn.
final class NodeLink {
    var node: LinkedNode
    /// The connection, which may still be opening; nil between two attempts.
    var transport: (any LinkTransport)?
    /// Whether the node has answered with its instance.
    var isUp = false
    /// The messages of this turn, which are sent together.
    var encoder: NodeMessageEncoder
    /// Whether messages wait for the end of the turn.
    var isGathering = false
    var delay = ReconnectDelay()
    /// The number of connections that were attempted.
    var attemptCount = 0
    /// The timer of the next attempt.
    var timer: TimerID?

    init(_ node: LinkedNode, sender: InstanceID) {
        self.node = node
        encoder = NodeMessageEncoder(sender: sender)
    }
}
