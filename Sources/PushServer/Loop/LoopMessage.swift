// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushStore
internal import PushTLS

/// What reaches a loop from other threads.
enum LoopMessage: Sendable {
    /// Answers of the store, in order.
    case replies([StoreReply])
    /// Use this for connections from now on (SIGHUP).
    case certificate(TLSContext)
    /// Close the stranger that has been idle longest: another loop has no descriptor for a new connection.
    case makeRoom
    /// Finish: accept nothing more, answer what is open, then end.
    case shutDown
}

/// Brings the store's answers into a loop's mailbox.
struct LoopReceiver: StoreReplyReceiver {
    let mailbox: Mailbox<LoopMessage>

    func receive(_ replies: [StoreReply]) { mailbox.post(.replies(replies)) }
}
