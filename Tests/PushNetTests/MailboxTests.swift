// SPDX-License-Identifier: Apache-2.0

@testable import PushNet
import Testing

@Suite struct MailboxTests {
    @Test func `messages of many threads arrive once and in each thread's order`() throws {
        let loop = try EventLoop()
        let mailbox = try Mailbox<(thread: Int, number: Int)>()
        let (threadCount, messageCount) = (4, 5_000)
        var next = [Int](repeating: 0, count: threadCount)
        try loop.attach(mailbox) { [unowned loop] batch in
            for message in batch {
                #expect(message.number == next[message.thread])
                next[message.thread] += 1
            }
            if next.allSatisfy({ $0 == messageCount }) { loop.stop() }
        }
        let threads = (0..<threadCount).map { thread in
            Thread(name: "poster \(thread)") {
                for number in 0..<messageCount { mailbox.post((thread, number)) }
            }
        }
        runUntilStopped(loop)
        for thread in threads { thread.join() }
        #expect(next == [Int](repeating: messageCount, count: threadCount))
    }

    @Test func `messages posted before the mailbox is attached arrive, all in one batch`() throws {
        let loop = try EventLoop()
        let mailbox = try Mailbox<Int>()
        mailbox.post(1)
        mailbox.post(contentsOf: [2, 3])
        mailbox.post(contentsOf: [])
        var batches: [[Int]] = []
        try loop.attach(mailbox) { [unowned loop] batch in
            batches.append(batch)
            loop.stop()
        }
        runUntilStopped(loop)
        #expect(batches == [[1, 2, 3]])
    }

    @Test func `a message that a batch's action posts arrives in the next batch`() throws {
        let loop = try EventLoop()
        let mailbox = try Mailbox<Int>()
        var batches: [[Int]] = []
        try loop.attach(mailbox) { [unowned loop] batch in
            batches.append(batch)
            if batch.contains(3) { loop.stop() } else { mailbox.post(batch[0] + 1) }
        }
        mailbox.post(1)
        runUntilStopped(loop)
        #expect(batches == [[1], [2], [3]])
    }

    @Test func `a batch that its action keeps is not changed by the next one`() throws {
        let loop = try EventLoop()
        let mailbox = try Mailbox<Int>()
        var kept: [Int] = []
        var isFirst = true
        try loop.attach(mailbox) { [unowned loop] batch in
            if isFirst {
                kept = batch
                isFirst = false
                mailbox.post(contentsOf: Array(100..<200))
            } else {
                loop.stop()
            }
        }
        mailbox.post(contentsOf: Array(0..<100))
        runUntilStopped(loop)
        #expect(kept == Array(0..<100))
    }

    @Test func `an empty post wakes no loop`() throws {
        let loop = try EventLoop()
        let mailbox = try Mailbox<Int>()
        var callCount = 0
        try loop.attach(mailbox) { _ in callCount += 1 }
        mailbox.post(contentsOf: [])
        loop.schedule(after: .milliseconds(1)) { loop.stop() }
        loop.run()
        #expect(callCount == 0)
    }

    @Test func `attaching a mailbox twice stops the process`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let mailbox = try Mailbox<Int>()
            let loop = try EventLoop()
            try loop.attach(mailbox) { _ in }
            try loop.attach(mailbox) { _ in }
        }
        #expect(says(result, "a mailbox was attached twice"))
    }
}
