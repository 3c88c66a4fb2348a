// SPDX-License-Identifier: Apache-2.0

import PushStore
import Synchronization
import Testing

@testable import PushServer

struct BlockingStoreClientTests {
    /// Answers the requests of a batch in reverse order, one by one.
    private final class ReversingStore: NotificationStore {
        let receiver = Mutex<BlockingStoreReceiver?>(nil)

        func submit(_ commands: inout [StoreCommand]) {
            let receiver = receiver.withLock { $0 }
            for case .perform(let request, let answer) in commands.reversed() {
                let result: StoreAnswer = if case .allDevices(.trust) = request { .trust([]) } else { .done }
                receiver?.receive([.performed(.success(result), answer: answer)])
            }
            commands = []
        }

        func stop() {}
    }

    @Test func `each request gets its own answer, whatever the order of the answers`() throws {
        let store = ReversingStore()
        let client = try BlockingStoreClient(loop: 3, store: store)
        store.receiver.withLock { $0 = client.receiver }
        let answers = try client.ask([.control(.announceAuthorities(version: 1)), .allDevices(.trust)])
        guard case .done = answers.first, case .trust = answers.last, answers.count == 2 else {
            Issue.record("\(answers)")
            return
        }
    }
}
