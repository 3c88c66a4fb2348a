// SPDX-License-Identifier: Apache-2.0

internal import PushCurl
internal import PushNet
internal import PushStore

/// Delivers the store's answers to the webhook thread, and wakes it.
final class WebhookInbox: StoreReplyReceiver {
    /// The messages that wait for the thread.
    struct Waiting: Sendable {
        var replies: [StoreReply] = []
        /// Whether the thread must end.
        var isStopping = false
    }

    private struct State: Sendable {
        var waiting = Waiting()
        var waker: ThreadClientWaker?
    }

    private let state = Lock(State())

    /// Queues answers; those that arrive before the thread is attached wait for it.
    func receive(_ replies: [StoreReply]) {
        let waker = state.withLock { state in
            state.waiting.replies += replies
            return state.waker
        }
        waker?.wake()
    }

    /// Asks the thread to end.
    func stop() {
        let waker = state.withLock { state in
            state.waiting.isStopping = true
            return state.waker
        }
        waker?.wake()
    }

    /// Sets the waker of the webhook thread, which calls this method.
    func attach(_ waker: ThreadClientWaker) { state.withLock { $0.waker = waker } }

    /// Removes and returns the waiting messages, for the webhook thread.
    func take() -> Waiting {
        state.withLock { state in
            defer { state.waiting.replies = [] }
            return state.waiting
        }
    }
}
