// SPDX-License-Identifier: Apache-2.0

import AgentPanel
import Testing

struct AlertQueueTests {
    private let first = SampleFacts.alert(1)
    private let second = SampleFacts.alert(2)

    @Test func `the oldest is shown, and stays while others come`() {
        var queue = AlertQueue()
        #expect(queue.take([], isWriting: false) == .nothing)
        #expect(queue.take([first], isWriting: false) == .show(first))
        #expect(queue.take([first, second], isWriting: false) == .nothing)
        #expect(queue.shown == first)
    }

    @Test func `an answer is taken once, and the next one is shown after it`() {
        var queue = AlertQueue()
        _ = queue.take([first, second], isWriting: false)
        #expect(queue.answer() == 1)
        #expect(queue.answer() == nil)
        // The agent may not have heard of it yet.
        #expect(queue.take([first, second], isWriting: false) == .show(second))
        #expect(queue.answer() == 2)
        #expect(queue.take([first, second], isWriting: false) == .nothing)
        #expect(queue.take([], isWriting: false) == .nothing)
    }

    @Test func `an alert that ended otherwise is taken down, or gives way to the next`() {
        var queue = AlertQueue()
        _ = queue.take([first, second], isWriting: false)
        #expect(queue.take([second], isWriting: false) == .show(second))
        #expect(queue.take([], isWriting: false) == .takeDown)
        #expect(queue.take([], isWriting: false) == .nothing)
    }

    @Test func `while a reply is written the window stays, and what waits comes after it`() {
        var queue = AlertQueue()
        _ = queue.take([first], isWriting: false)
        #expect(queue.take([second], isWriting: true) == .nothing)
        #expect(queue.take([], isWriting: true) == .nothing)
        #expect(queue.answer() == 1)
        // The window goes a little later.
        #expect(queue.take([second], isWriting: true) == .show(second))
    }

    @Test func `an alert that says something else now is shown again`() {
        var queue = AlertQueue()
        _ = queue.take([first], isWriting: false)
        let hidden = SampleFacts.alert(1, body: "")
        #expect(queue.take([hidden], isWriting: false) == .show(hidden))
        #expect(queue.take([hidden], isWriting: false) == .nothing)
    }

    @Test func `a number that comes again later is a new alert`() {
        var queue = AlertQueue()
        _ = queue.take([first], isWriting: false)
        _ = queue.answer()
        _ = queue.take([], isWriting: false)
        #expect(queue.take([first], isWriting: false) == .show(first))
    }
}
