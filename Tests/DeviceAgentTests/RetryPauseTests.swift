// SPDX-License-Identifier: Apache-2.0

import DeviceAgent
import Testing

@Suite struct RetryPauseTests {
    /// The first second of 2026-11-22.
    private static let now: Int64 = 1_795_305_600

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

    @Test(arguments: [
        ("0", 0), ("30", 30), ("007", 7), ("100000", 3600), ("99999999999999999999999", 3600),
        ("Sun, 22 Nov 2026 00:00:30 GMT", 30), ("Sat, 21 Nov 2026 23:59:00 GMT", 0),
        ("Mon, 23 Nov 2026 00:00:00 GMT", 3600),
    ])
    func `a server requests a pause in seconds or by a date, within an hour`(field: String, seconds: Int) {
        #expect(RetryPause.parse(field, nowUnixSeconds: Self.now) == .seconds(seconds))
    }

    @Test(arguments: [nil, "", "-1", "+5", "1.5", " 5", "soon", "Sun, 22 Nov", "٣"])
    func `any other text requests no pause`(field: String?) {
        #expect(RetryPause.parse(field, nowUnixSeconds: Self.now) == nil)
    }
}
