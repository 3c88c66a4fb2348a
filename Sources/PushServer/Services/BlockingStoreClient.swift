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
    /// The answers in the order of the requests; nil for those that have not arrived.
    private var results: [Result<StoreAnswer, StoreRefusal>?] = []

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
                    for case .performed(let result, let answer) in replies { take(result, answer) }
                }
            }
        } catch {
            throw .system(error)
        }
    }

    /// Sends all requests at once and blocks until the store has answered them, in any order.
    ///
    /// - Parameter requests: At least one request.
    /// - Returns: The answers, in the order of the requests.
    /// - Throws: The first refusal.
    func ask(_ requests: [StoreRequest]) throws(StoreRefusal) -> [StoreAnswer] {
        results = Array(repeating: nil, count: requests.count)
        store.submit(
            requests.enumerated().map { index, request in
                var answer = address
                answer.exchange = Int32(index)
                return .perform(request, answer: answer)
            })
        while results.contains(where: { $0 == nil }) { events.run() }
        var answers: [StoreAnswer] = []
        for case .some(let result) in results { answers.append(try result.get()) }
        return answers
    }

    private func take(_ result: Result<StoreAnswer, StoreRefusal>, _ answer: ReplyAddress) {
        results[Int(answer.exchange)] = result
        if !results.contains(where: { $0 == nil }) { events.stop() }
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
