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

    private func alerts(_ entries: ClosedRange<Int64>) -> [AlertRecord] { entries.map { SampleRecords.alert($0) } }

    @Test func `the position counts the alerts of the series, and starts again after nothing waited`() {
        var queue = AlertQueue()
        _ = queue.take(alerts(1...3), isWriting: false)
        #expect(queue.position == .init(number: 1, count: 3))
        _ = queue.take(alerts(1...4), isWriting: false)
        #expect(queue.position == .init(number: 1, count: 4), "one more came")
        _ = queue.answer()
        _ = queue.take(alerts(1...4), isWriting: false)
        #expect(queue.position == .init(number: 2, count: 4), "the answer is on its way")
        _ = queue.take(alerts(2...3), isWriting: false)
        #expect(queue.position == .init(number: 2, count: 3), "one was cleared elsewhere")
        _ = queue.answer()
        _ = queue.take(alerts(3...3), isWriting: false)
        #expect(queue.position == .init(number: 3, count: 3))
        _ = queue.answer()
        _ = queue.take([], isWriting: false)
        _ = queue.take(alerts(5...6), isWriting: false)
        #expect(queue.position == .init(number: 1, count: 2))
    }

    @Test func `an alert that only waits for its reply counts`() {
        var queue = AlertQueue()
        _ = queue.take([first], isWriting: false)
        _ = queue.take([second], isWriting: true)
        #expect(queue.position == .init(number: 1, count: 2))
    }

    @Test func `all waiting alerts are answered at once, and later ones are a new series`() {
        var queue = AlertQueue()
        #expect(queue.answerAll() == [])
        _ = queue.take(alerts(1...5), isWriting: false)
        #expect(queue.answer() == 1)
        _ = queue.take(alerts(1...5), isWriting: false)
        #expect(queue.answerAll() == [2, 3, 4, 5])
        #expect(queue.answerAll() == [], "a double click")
        #expect(queue.take(alerts(1...5), isWriting: false) == .nothing)
        #expect(queue.take(alerts(4...7), isWriting: false) == .show(SampleRecords.alert(6)))
        #expect(queue.position == .init(number: 1, count: 2))
    }
}
