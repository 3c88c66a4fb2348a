// SPDX-License-Identifier: Apache-2.0

package import PushNet
package import PushStore
package import PushTLS

/// A message from another thread to a loop.
package enum LoopMessage: Sendable {
    /// Replies of the store, in order.
    case replies([StoreReply])
    /// The certificate for connections accepted from now on (after SIGHUP).
    case certificate(TLSContext)
    /// Changed settings: these limits, and those that the APIs read again.
    case settings(StrangerLimits)
    /// Close the stranger that has been idle longest, because another loop has no descriptor for a new connection.
    case makeRoom
    /// Stop accepting, answer the open requests, then end with the other loops.
    case shutDown
    /// End, because no loop has a connection any more.
    case end
}

/// Delivers the store's replies to a loop's mailbox.
package struct LoopReceiver: StoreReplyReceiver {
    /// Whether devices connect to the loop.
    package let hasHost: Bool
    private let mailbox: Mailbox<LoopMessage>

    package init(_ mailbox: Mailbox<LoopMessage>, hasHost: Bool = true) {
        self.mailbox = mailbox
        self.hasHost = hasHost
    }

    package func receive(_ replies: [StoreReply]) { mailbox.post(.replies(replies)) }
}
