// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushServing
internal import PushStore

/// Sends requests to the store and waits for the answers; used only at start, before any loop serves.
final class BlockingStoreClient {
    let receiver: BlockingStoreReceiver
    private let store: any NotificationStore
    private let address: ReplyAddress
    private let events: EventLoop
    /// The answers so far, in the order of the requests.
    private var results: [Result<StoreAnswer, StoreRefusal>] = []
    private var expectedCount = 0

    /// Creates a client with its own index among the store's receivers.
    init(loop: UInt32, store: any NotificationStore) throws(ServerError) {
        self.store = store
        address = ReplyAddress(loop: loop, slot: 0, generation: 0, exchange: 0)
        do throws(NetError) {
            events = try EventLoop()
            let mailbox = try Mailbox<LoopMessage>()
            receiver = BlockingStoreReceiver(mailbox: mailbox)
            try events.attach(mailbox) { [unowned self] messages in
                for case .replies(let replies) in messages {
                    for case .performed(let result, _) in replies { self.answer(result) }
                }
            }
        } catch {
            throw .system(error)
        }
    }

    /// Sends all requests in one transaction and blocks until the store has answered them.
    ///
    /// - Parameter requests: At least one request.
    /// - Returns: The answers, in the order of the requests.
    /// - Throws: The first refusal.
    func ask(_ requests: [StoreRequest]) throws(StoreRefusal) -> [StoreAnswer] {
        results = []
        expectedCount = requests.count
        store.submit(requests.map { .perform($0, answer: address) })
        while results.count < expectedCount { events.run() }
        var answers: [StoreAnswer] = []
        for result in results { answers.append(try result.get()) }
        return answers
    }

    private func answer(_ result: Result<StoreAnswer, StoreRefusal>) {
        results.append(result)
        if results.count == expectedCount { events.stop() }
    }
}

/// Forwards only the answers to a `BlockingStoreClient`.
///
/// It drops the store's messages to all loops, because nothing reads them after the start.
struct BlockingStoreReceiver: StoreReplyReceiver {
    let mailbox: Mailbox<LoopMessage>

    func receive(_ replies: [StoreReply]) {
        let answers = replies.filter { if case .performed = $0 { true } else { false } }
        if !answers.isEmpty { mailbox.post(.replies(answers)) }
    }
}
