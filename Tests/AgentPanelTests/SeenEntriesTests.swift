// SPDX-License-Identifier: Apache-2.0

import PushNet
import Testing

@testable import AgentPanel

struct SeenEntriesTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func time(_ milliseconds: Int64) -> MonotonicTime { Self.start.advanced(byMilliseconds: milliseconds) }

    @Test func `an entry is seen after half a second on the screen, and reported once`() {
        var entries = SeenEntries()
        #expect(entries.update(visible: [1, 2], now: time(0)) == .milliseconds(500))
        #expect(entries.update(visible: [1, 2], now: time(499)) == .milliseconds(1))
        #expect(entries.take() == [])
        #expect(entries.update(visible: [1, 2], now: time(500)) == nil)
        #expect(entries.take() == [1, 2])
        #expect(entries.take() == [])
    }

    @Test func `an entry that leaves early starts again, and the others go on`() {
        var entries = SeenEntries()
        _ = entries.update(visible: [1, 2], now: time(0))
        _ = entries.update(visible: [2], now: time(300))
        _ = entries.update(visible: [1, 2], now: time(400))
        _ = entries.update(visible: [1, 2], now: time(600))
        #expect(entries.take() == [2])
        #expect(entries.update(visible: [1], now: time(900)) == nil)
        #expect(entries.take() == [1])
    }

    @Test func `an entry that was on the screen long enough is seen when it leaves`() {
        var entries = SeenEntries()
        _ = entries.update(visible: [1], now: time(0))
        // The window became inactive.
        #expect(entries.update(visible: [], now: time(700)) == nil)
        #expect(entries.take() == [1])
    }
}
