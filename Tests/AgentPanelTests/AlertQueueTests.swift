// SPDX-License-Identifier: Apache-2.0

import AgentPanel
import Testing

struct AlertQueueTests {
    private let first = SampleFacts.alert(1)
    private let second = SampleFacts.alert(2)

    @Test func `the oldest is shown, and stays while others come`() {
        var queue = AlertQueue()
        #expect(queue.take([]) == .nothing)
        #expect(queue.take([first]) == .show(first))
        #expect(queue.take([first, second]) == .nothing)
        #expect(queue.shown == first)
    }

    @Test func `an answer is taken once, and the next one is shown after it`() {
        var queue = AlertQueue()
        _ = queue.take([first, second])
        #expect(queue.answer() == 1)
        #expect(queue.answer() == nil)
        // The agent may not have heard of it yet.
        #expect(queue.take([first, second]) == .show(second))
        #expect(queue.answer() == 2)
        #expect(queue.take([first, second]) == .nothing)
        #expect(queue.take([]) == .nothing)
    }

    @Test func `an alert that ended otherwise is taken down, or gives way to the next`() {
        var queue = AlertQueue()
        _ = queue.take([first, second])
        #expect(queue.take([second]) == .show(second))
        #expect(queue.take([]) == .takeDown)
        #expect(queue.take([]) == .nothing)
    }

    @Test func `an alert that says something else now is shown again`() {
        var queue = AlertQueue()
        _ = queue.take([first])
        let hidden = SampleFacts.alert(1, body: "")
        #expect(queue.take([hidden]) == .show(hidden))
        #expect(queue.take([hidden]) == .nothing)
    }

    @Test func `a number that comes again later is a new alert`() {
        var queue = AlertQueue()
        _ = queue.take([first])
        _ = queue.answer()
        _ = queue.take([])
        #expect(queue.take([first]) == .show(first))
    }
}
