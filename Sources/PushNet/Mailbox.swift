// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A queue from any thread into a loop: one lock for a whole batch, and one wake-up (eventfd) if it was empty.
///
/// The queue has no bound of its own: senders must bound the number of pending messages. Messages that are posted
/// before the mailbox is attached wait in it.
package final class Mailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var isAttached = false
    }

    private let state = Lock(State())
    private let wakeUp: FileDescriptor

    /// Creates an empty mailbox with `eventfd(2)`.
    package init() throws(NetError) {
        guard let descriptor = try syscall("eventfd", { eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC)) }) else {
            throw systemFailure("eventfd", EAGAIN)
        }
        wakeUp = FileDescriptor(adopting: descriptor)
    }

    /// Adds one message.
    package func post(_ message: Message) {
        let wasEmpty = state.withLock { state in
            state.messages.append(message)
            return state.messages.count == 1
        }
        if wasEmpty { wake() }
    }

    /// Adds messages, which the loop receives in this order and in one batch.
    package func post(contentsOf messages: [Message]) {
        guard !messages.isEmpty else { return }
        let wasEmpty = state.withLock { state in
            state.messages.append(contentsOf: messages)
            return state.messages.count == messages.count
        }
        if wasEmpty { wake() }
    }

    /// The descriptor that becomes readable when messages wait; used by the loop.
    fileprivate var descriptor: Int32 { wakeUp.rawValue }

    /// Marks the mailbox as attached, since it can have only one reader; called by the loop.
    fileprivate func claim() {
        let wasAttached = state.withLock { state in
            defer { state.isAttached = true }
            return state.isAttached
        }
        precondition(!wasAttached, "a mailbox was attached twice")
    }

    /// Takes all messages and leaves an empty array, whose storage is reused; called by the loop.
    fileprivate func exchange(_ batch: inout [Message]) {
        // The wake-up is read before the messages: in the other order, a message posted in between would lose its
        // wake-up.
        var count: UInt64 = 0
        let result = unsafe read(wakeUp.rawValue, &count, MemoryLayout<UInt64>.size)
        precondition(result >= 0 || errno == EAGAIN || errno == EINTR, "reading an eventfd failed: errno \(errno)")
        state.withLock { state in swap(&state.messages, &batch) }
    }

    /// Adds one to the eventfd, which cannot fail: the counter is far from full, and the descriptor lives as long as
    /// the object.
    private func wake() {
        var one: UInt64 = 1
        while unsafe write(wakeUp.rawValue, &one, MemoryLayout<UInt64>.size) < 0 {
            precondition(errno == EINTR, "writing an eventfd failed: errno \(errno)")
        }
    }
}

extension EventLoop {
    /// Watches a mailbox: the action receives each posted batch, in order, on the loop.
    ///
    /// - Parameters:
    ///   - mailbox: The mailbox, which the loop retains; it can never be attached to another loop.
    ///   - action: The receiver, which is never called with an empty batch.
    /// - Throws: `NetError.system` if the kernel has no memory for another descriptor.
    package func attach<Message: Sendable>(
        _ mailbox: Mailbox<Message>, _ action: @escaping ([Message]) -> Void
    ) throws(NetError) {
        mailbox.claim()
        let reader = MailboxReader(mailbox, action)
        _ = try register(mailbox.descriptor, for: .readable, handler: reader)
    }
}

/// The reading side of a mailbox, on the loop.
private final class MailboxReader<Message: Sendable>: EventHandler {
    /// The capacity above which a batch's storage is released instead of reused: a burst must not pin its memory.
    private let keptCapacityMax = 4_096

    private let mailbox: Mailbox<Message>
    private let action: ([Message]) -> Void
    private var spare: [Message] = []

    init(_ mailbox: Mailbox<Message>, _ action: @escaping ([Message]) -> Void) {
        self.mailbox = mailbox
        self.action = action
    }

    func ready(_ readiness: Readiness) {
        var batch = spare
        spare = []
        mailbox.exchange(&batch)
        if !batch.isEmpty { action(batch) }
        batch.removeAll(keepingCapacity: batch.capacity <= keptCapacityMax)
        spare = batch
    }
}
