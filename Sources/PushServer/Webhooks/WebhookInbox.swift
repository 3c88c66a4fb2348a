// SPDX-License-Identifier: Apache-2.0

internal import PushCurl
internal import PushNet
internal import PushStore

/// Brings the store's answers to the webhooks' thread, and wakes it.
final class WebhookInbox: StoreReplyReceiver {
    /// What waits for the thread.
    struct Waiting: Sendable {
        var replies: [StoreReply] = []
        /// The thread is to end.
        var isStopping = false
    }

    private struct State: Sendable {
        var waiting = Waiting()
        var waker: ThreadClientWaker?
    }

    private let state = Lock(State())

    /// Takes answers; those that come before the thread listens wait for it.
    func receive(_ replies: [StoreReply]) {
        let waker = state.withLock { state in
            state.waiting.replies += replies
            return state.waker
        }
        waker?.wake()
    }

    /// Has the thread end.
    func stop() {
        let waker = state.withLock { state in
            state.waiting.isStopping = true
            return state.waker
        }
        waker?.wake()
    }

    /// For the thread: how it is woken.
    func attach(_ waker: ThreadClientWaker) { state.withLock { $0.waker = waker } }

    /// For the thread: takes what waits.
    func take() -> Waiting {
        state.withLock { state in
            defer { state.waiting.replies = [] }
            return state.waiting
        }
    }
}
