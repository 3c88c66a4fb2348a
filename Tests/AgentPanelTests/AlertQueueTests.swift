// SPDX-License-Identifier: Apache-2.0

import AgentBus
@testable import AgentPanel
import Testing

struct AlertQueueTests {
    private let first = SampleRecords.alert(1)
    private let second = SampleRecords.alert(2)

    @Test func `the oldest alert is shown, and stays when others arrive`() {
        var queue = AlertQueue()
        #expect(queue.take([], isWriting: false) == .nothing)
        #expect(queue.take([first], isWriting: false) == .show(first))
        #expect(queue.take([first, second], isWriting: false) == .nothing)
        #expect(queue.shown == first)
    }

    @Test func `an alert is answered once, and the next one is shown after it`() {
        var queue = AlertQueue()
        _ = queue.take([first, second], isWriting: false)
        #expect(queue.answer() == 1)
        #expect(queue.answer() == nil)
        // The agent may not have processed the answer yet.
        #expect(queue.take([first, second], isWriting: false) == .show(second))
        #expect(queue.answer() == 2)
        #expect(queue.take([first, second], isWriting: false) == .nothing)
        #expect(queue.take([], isWriting: false) == .nothing)
    }

    @Test func `an alert that ended elsewhere is removed, or replaced by the next one`() {
        var queue = AlertQueue()
        _ = queue.take([first, second], isWriting: false)
        #expect(queue.take([second], isWriting: false) == .show(second))
        #expect(queue.take([], isWriting: false) == .takeDown)
        #expect(queue.take([], isWriting: false) == .nothing)
    }

    @Test func `the window stays while the user writes a reply, and the next alert waits`() {
        var queue = AlertQueue()
        _ = queue.take([first], isWriting: false)
        #expect(queue.take([second], isWriting: true) == .nothing)
        #expect(queue.take([], isWriting: true) == .nothing)
        #expect(queue.answer() == 1)
        // The window closes a little later.
        #expect(queue.take([second], isWriting: true) == .show(second))
    }

    @Test func `an alert is shown again when its content changes`() {
        var queue = AlertQueue()
        _ = queue.take([first], isWriting: false)
        let hidden = SampleRecords.alert(1, body: "")
        #expect(queue.take([hidden], isWriting: false) == .show(hidden))
        #expect(queue.take([hidden], isWriting: false) == .nothing)
    }

    @Test func `a number that is used again later is a new alert`() {
        var queue = AlertQueue()
        _ = queue.take([first], isWriting: false)
        _ = queue.answer()
        _ = queue.take([], isWriting: false)
        #expect(queue.take([first], isWriting: false) == .show(first))
    }
}
