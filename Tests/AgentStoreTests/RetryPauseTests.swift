// SPDX-License-Identifier: Apache-2.0

@testable import AgentStore
import Testing

@Suite struct RetryPauseTests {
    @Test func `pauses double from a second to a minute, and start again after a success`() {
        var pause = RetryPause()
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60, 60] {
            #expect(pause.next(asked: nil, fraction: 1) == .seconds(seconds))
        }
        pause.reset()
        #expect(pause.next(asked: nil, fraction: 1) == .seconds(1))
    }

    @Test(arguments: [(0.0, 500), (0.5, 750), (1.0, 1000), (-3.0, 500), (3.0, 1000)])
    func `a pause is random between half of its maximum and the whole`(fraction: Double, milliseconds: Int) {
        var pause = RetryPause()
        #expect(pause.next(asked: nil, fraction: fraction) == .milliseconds(milliseconds))
    }

    @Test func `a pause that the server requests takes precedence`() {
        var pause = RetryPause()
        #expect(pause.next(asked: .seconds(30), fraction: 1) == .seconds(31))
        #expect(pause.next(asked: nil, fraction: 1) == .seconds(2))
    }
}
