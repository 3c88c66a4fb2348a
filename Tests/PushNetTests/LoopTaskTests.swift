// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import PushNet

@Suite struct LoopTaskTests {
    /// An answer that arrives later, on the loop.
    private final class LateAnswers {
        private var continuations: [CheckedContinuation<Int, Never>] = []

        func next() async -> Int { await withCheckedContinuation { continuations.append($0) } }

        func arrive() {
            for (number, continuation) in continuations.enumerated() { continuation.resume(returning: number) }
            continuations = []
        }
    }

    @Test func `a task runs until it waits before the call that starts it returns`() throws {
        let loop = try EventLoop()
        var steps: [String] = []
        loop.startTask { steps.append("task") }
        steps.append("caller")
        #expect(steps == ["task", "caller"])
    }

    @Test func `a resumed task continues on the loop's thread, after the event that resumed it`() throws {
        let loop = try EventLoop()
        let answers = LateAnswers()
        let thread = pthread_self()
        var steps: [String] = []
        for name in ["first", "second"] {
            loop.startTask {
                let number = await answers.next()
                steps.append("\(name) \(number)")
                #expect(pthread_equal(pthread_self(), thread) != 0)
                if number == 1 { loop.stop() }
            }
        }
        loop.schedule(after: .zero) {
            answers.arrive()
            steps.append("event")
        }
        runUntilStopped(loop)
        #expect(steps == ["event", "first 0", "second 1"])
    }

    @Test func `functions that a task awaits run on the loop's thread, however deeply they are nested`() throws {
        let loop = try EventLoop()
        let answers = LateAnswers()
        let thread = pthread_self()
        func sum(_ depth: Int) async -> Int {
            #expect(pthread_equal(pthread_self(), thread) != 0)
            guard depth > 0 else { return await answers.next() }
            return await sum(depth - 1) + 1
        }
        var total: Int?
        loop.startTask {
            total = await sum(5)
            loop.stop()
        }
        loop.schedule(after: .zero) { answers.arrive() }
        runUntilStopped(loop)
        #expect(total == 5)
    }

    @Test func `a task whose loop no longer exists does not continue`() throws {
        let answers = LateAnswers()
        var hasContinued = false
        do {
            let loop = try EventLoop()
            loop.startTask {
                _ = await answers.next()
                hasContinued = true
            }
        }
        answers.arrive()
        #expect(!hasContinued)
    }
}
