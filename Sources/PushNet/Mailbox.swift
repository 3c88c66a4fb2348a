// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A queue into a loop from any thread: one lock for a whole batch, one wake-up (eventfd) when it was empty.
///
/// It has no bound of its own: whoever posts bounds what is under way. Messages that are posted before the mailbox is
/// attached wait for it.
package final class Mailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var isAttached = false
    }

    private let state = Lock(State())
    private let wakeUp: FileDescriptor

    /// Makes an empty one with `eventfd(2)`.
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

    /// Adds messages, which the loop sees in this order and in one batch.
    package func post(contentsOf messages: [Message]) {
        guard !messages.isEmpty else { return }
        let wasEmpty = state.withLock { state in
            state.messages.append(contentsOf: messages)
            return state.messages.count == messages.count
        }
        if wasEmpty { wake() }
    }

    /// For the loop: the descriptor that becomes readable when messages wait.
    fileprivate var descriptor: Int32 { wakeUp.rawValue }

    /// For the loop: a mailbox has one reader.
    fileprivate func claim() {
        let wasAttached = state.withLock { state in
            defer { state.isAttached = true }
            return state.isAttached
        }
        precondition(!wasAttached, "a mailbox was attached twice")
    }

    /// For the loop: takes all messages and leaves an empty array, whose storage is used again.
    fileprivate func exchange(_ batch: inout [Message]) {
        // First the wake-up, then the messages: the other way round, a message posted in between would lose its wake-up.
        var count: UInt64 = 0
        let result = unsafe read(wakeUp.rawValue, &count, MemoryLayout<UInt64>.size)
        precondition(result >= 0 || errno == EAGAIN || errno == EINTR, "reading an eventfd failed: errno \(errno)")
        state.withLock { state in swap(&state.messages, &batch) }
    }

    /// Adds one to the eventfd, which cannot fail: its counter is far from full, and it is open as long as we are.
    private func wake() {
        var one: UInt64 = 1
        while unsafe write(wakeUp.rawValue, &one, MemoryLayout<UInt64>.size) < 0 {
            precondition(errno == EINTR, "writing an eventfd failed: errno \(errno)")
        }
    }
}

extension EventLoop {
    /// Watches a mailbox: the action gets each batch that was posted, in order, on the loop.
    ///
    /// - Parameters:
    ///   - mailbox: Is kept by the loop, and belongs to one loop for ever.
    ///   - action: Is never called with an empty batch.
    /// - Throws: `NetError.system` when the kernel has no memory for another descriptor.
    package func attach<Message: Sendable>(
        _ mailbox: Mailbox<Message>, _ action: @escaping ([Message]) -> Void
    ) throws(NetError) {
        mailbox.claim()
        let reader = MailboxReader(mailbox, action)
        _ = try register(mailbox.descriptor, for: .readable, handler: reader)
    }
}

/// The loop's end of a mailbox.
private final class MailboxReader<Message: Sendable>: EventHandler {
    /// Beyond this a batch's storage is given back instead of kept for the next one: a burst must not pin its memory.
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
