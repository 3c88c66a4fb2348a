// SPDX-License-Identifier: Apache-2.0

@testable import DeviceAgent
import Testing

/// Wraps the bounds in a class, because `#expect` accepts no mutating call.
private final class Bounds {
    private var bounds = CallBounds()

    func begin(_ caller: String, atNanoseconds now: UInt64) -> Bool { bounds.begin(caller, atNanoseconds: now) }

    func end(_ caller: String) { bounds.end(caller) }
}

struct CallBoundsTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func `each caller has its own limit of pending calls`() {
        let bounds = Bounds()
        for _ in 0..<CallBounds.waitingCountMax { #expect(bounds.begin(":1.1", atNanoseconds: 0)) }
        #expect(!bounds.begin(":1.1", atNanoseconds: 0))
        #expect(bounds.begin(":1.2", atNanoseconds: 0))
        bounds.end(":1.1")
        #expect(bounds.begin(":1.1", atNanoseconds: 0))
    }

    @Test func `all callers share a limit of pending calls`() {
        let bounds = Bounds()
        let taken = (0..<400).filter { bounds.begin(":1.\($0)", atNanoseconds: 0) }
        #expect(taken.count == CallBounds.allWaitingCountMax)
        for caller in taken { bounds.end(":1.\(caller)") }
        #expect(bounds.begin(":1.999", atNanoseconds: 0))
    }

    @Test func `a caller whose calls are answered is limited per second`() {
        let bounds = Bounds()
        func count(at now: UInt64) -> Int {
            (0..<10_000).prefix { _ in
                guard bounds.begin(":1.1", atNanoseconds: now) else { return false }
                bounds.end(":1.1")
                return true
            }.count
        }
        #expect(count(at: 0) == CallBounds.burst)
        #expect(count(at: Self.second) == CallBounds.ratePerSecond)
        #expect(count(at: 100 * Self.second) == CallBounds.burst)
    }

    @Test func `many short-lived callers are not kept in memory`() {
        let bounds = Bounds()
        for number in 0..<1024 {
            #expect(bounds.begin(":1.\(number)", atNanoseconds: 0))
            bounds.end(":1.\(number)")
        }
        #expect(!bounds.begin(":1.1024", atNanoseconds: 0))
        #expect(bounds.begin(":1.1024", atNanoseconds: Self.second))
    }
}
