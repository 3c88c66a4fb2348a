// SPDX-License-Identifier: Apache-2.0

@testable import DeviceAgent
import PushNet
import Testing

/// Wraps the bounds in a class, because `#expect` accepts no mutating call.
private final class Bounds {
    private var bounds = CallBounds()

    func begin(_ caller: String, at now: MonotonicTime) -> Bool { bounds.begin(caller, at: now) }

    func end(_ caller: String) { bounds.end(caller) }
}

struct CallBoundsTests {
    @Test func `each caller has its own limit of pending calls`() {
        let bounds = Bounds()
        for _ in 0..<CallBounds.waitingCountMax { #expect(bounds.begin(":1.1", at: .past)) }
        #expect(!bounds.begin(":1.1", at: .past))
        #expect(bounds.begin(":1.2", at: .past))
        bounds.end(":1.1")
        #expect(bounds.begin(":1.1", at: .past))
    }

    @Test func `all callers share a limit of pending calls`() {
        let bounds = Bounds()
        let taken = (0..<400).filter { bounds.begin(":1.\($0)", at: .past) }
        #expect(taken.count == CallBounds.allWaitingCountMax)
        for caller in taken { bounds.end(":1.\(caller)") }
        #expect(bounds.begin(":1.999", at: .past))
    }

    @Test func `a caller whose calls are answered is limited per second`() {
        let bounds = Bounds()
        func count(at seconds: Int64) -> Int {
            (0..<10_000).prefix { _ in
                guard bounds.begin(":1.1", at: .past.advanced(bySeconds: seconds)) else { return false }
                bounds.end(":1.1")
                return true
            }.count
        }
        #expect(count(at: 0) == CallBounds.burst)
        #expect(count(at: 1) == CallBounds.ratePerSecond)
        #expect(count(at: 100) == CallBounds.burst)
    }

    @Test func `many short-lived callers are not kept in memory`() {
        let bounds = Bounds()
        for number in 0..<1024 {
            #expect(bounds.begin(":1.\(number)", at: .past))
            bounds.end(":1.\(number)")
        }
        #expect(!bounds.begin(":1.1024", at: .past))
        #expect(bounds.begin(":1.1024", at: .past.advanced(bySeconds: 1)))
    }
}
