// SPDX-License-Identifier: Apache-2.0

@testable import PushNet
import Testing

@Suite struct LockTests {
    private struct Refused: Error {}

    @Test func `increments by many threads are all counted`() {
        let counter = Lock(0)
        let threads = (0..<4).map { index in
            Thread(name: "counter \(index)") {
                for _ in 0..<20_000 { counter.withLock { $0 += 1 } }
            }
        }
        for thread in threads { thread.join() }
        #expect(counter.withLock { $0 } == 80_000)
    }

    @Test func `a body that throws releases the lock and keeps its change`() {
        let lock = Lock([Int]())
        #expect(throws: Refused.self) {
            try lock.withLock { list in
                list.append(1)
                throw Refused()
            }
        }
        #expect(lock.withLock { $0 } == [1])
    }

    @Test func `the value is released with the lock`() throws {
        weak var held: Unmoved?
        do {
            let lock = Lock<Unmoved?>(nil)
            let object = try Unmoved()
            held = object
            lock.withLock { $0 = object }
        }
        #expect(held == nil)
    }
}
