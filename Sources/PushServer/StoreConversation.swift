// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushStore

/// Asks the store and waits for the answer: for start-up only, before any loop serves.
final class StoreConversation {
    let receiver: LoopReceiver
    private let store: any NotificationStore
    private let address: ReplyAddress
    private let events: EventLoop
    private var result: Result<StoreAnswer, StoreRefusal>?

    /// Takes the place among the store's receivers that is this conversation's.
    init(loop: UInt32, store: any NotificationStore) throws(ServerError) {
        self.store = store
        address = ReplyAddress(loop: loop, slot: 0, generation: 0, exchange: 0)
        do throws(NetError) {
            events = try EventLoop()
            let mailbox = try Mailbox<LoopMessage>()
            receiver = LoopReceiver(mailbox: mailbox)
            try events.attach(mailbox) { [unowned self] messages in
                for case .replies(let replies) in messages {
                    for case .performed(let result, _) in replies { self.answer(result) }
                }
            }
        } catch {
            throw .system(error)
        }
    }

    /// Blocks until the store has answered.
    func ask(_ request: StoreRequest) throws(StoreRefusal) -> StoreAnswer {
        result = nil
        store.submit([.perform(request, answer: address)])
        while result == nil { events.run() }
        guard let result else { preconditionFailure("the loop above ends with a result") }
        return try result.get()
    }

    private func answer(_ result: Result<StoreAnswer, StoreRefusal>) {
        self.result = result
        events.stop()
    }
}
