// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Synchronization
import Testing

/// Tests the order in which the writer sends its replies to the loops.
struct ReplyBatchTests {
    /// Appends what one loop receives to a log that all loops share.
    private struct Receiver: StoreReplyReceiver {
        let loop: Int
        let log: Log
        let hasHost = true

        func receive(_ replies: [StoreReply]) { log.entries.withLock { $0.append((loop, replies.count)) } }
    }

    private final class Log: Sendable {
        let entries = Mutex<[(loop: Int, count: Int)]>([])
    }

    @Test func `a broadcast is with all hosts before any loop receives the answer to its provider`() {
        let log = Log()
        var batch = ReplyBatch(receivers: (0..<3).map { Receiver(loop: $0, log: log) })
        batch.accept(ReplyAddress(loop: 0, slot: 1, generation: 1, exchange: 1))
        for loop in 1...2 as ClosedRange<UInt32> { batch.add(.recalled(DeviceID(rawValue: 1)), toHostOf: loop) }
        batch.send()
        #expect(log.entries.withLock { $0.map(\.loop) } == [1, 2, 0])
        batch.send()
        #expect(log.entries.withLock { $0.map(\.count) } == [1, 1, 1])
    }
}
