// SPDX-License-Identifier: Apache-2.0

import Glibc
@testable import PushNet
import Synchronization
import Testing

@Suite struct ThreadTests {
    /// Returns the thread's name as the kernel shows it.
    private static func currentName() -> String {
        let file = FileDescriptor(adopting: unsafe open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC))
        return ((try? receive(from: file.rawValue)) ?? nil)?.split(separator: "\n").first.map(String.init) ?? ""
    }

    @Test(arguments: [
        ("loop 1", "loop 1"), ("exactly fifteen", "exactly fifteen"), ("sixteen letters!", "sixteen letters"),
    ])
    func `a thread has its name, cut to fifteen bytes`(name: String, shown: String) {
        let seen = Lock("")
        Thread(name: name) {
            let current = Self.currentName()
            seen.withLock { $0 = current }
        }.join()
        #expect(seen.withLock { $0 } == shown)
    }

    @Test func `join waits for the end of the thread`() {
        let gate = Lock(false)
        let thread = Thread(name: "slow") {
            for _ in 0..<100 { sched_yield() }
            gate.withLock { $0 = true }
        }
        thread.join()
        #expect(gate.withLock { $0 })
    }

    @Test func `a thread's stack has room for a deep call chain`() {
        @Sendable func depth(_ remaining: Int) -> Int {
            // The optimizer cannot drop these 1,000 bytes.
            let bytes = InlineArray<1_000, UInt8> { UInt8(truncatingIfNeeded: $0 + remaining) }
            return remaining == 0 ? 0 : 1 + depth(remaining - 1) + Int(bytes[remaining % 1_000]) / 256
        }
        let reached = Lock(0)
        Thread(name: "deep") {
            let result = depth(700)
            reached.withLock { $0 = result }
        }.join()
        #expect(reached.withLock { $0 } == 700)
    }

    @Test func `a thread that is never joined still runs to its end`() throws {
        let mailbox = try Mailbox<Int>()
        let loop = try EventLoop()
        try loop.attach(mailbox) { [unowned loop] _ in loop.stop() }
        _ = Thread(name: "left alone") { mailbox.post(1) }
        runUntilStopped(loop)
    }

    @Test func `joining twice stops the process`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = Thread(name: "twice") {}
            thread.join()
            thread.join()
        }
        #expect(says(result, "a thread was joined twice"))
    }
}
