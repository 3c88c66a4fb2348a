// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushCore
import Testing

struct RetryAfterTests {
    /// The first second of 2026-11-22.
    private static let now = Timestamp(unixSeconds: 1_795_305_600)

    @Test(arguments: [
        ("0", 0), ("30", 30), ("007", 7), ("100000", 3600), ("99999999999999999999999", 3600),
        ("Sun, 22 Nov 2026 00:00:30 GMT", 30), ("Sat, 21 Nov 2026 23:59:00 GMT", 0),
        ("Mon, 23 Nov 2026 00:00:00 GMT", 3600),
    ])
    func `a server requests a pause in seconds or by a date, within an hour`(field: String, seconds: Int) {
        #expect(RetryPause.parse(field, now: Self.now) == .seconds(seconds))
    }

    @Test(arguments: [nil, "", "-1", "+5", "1.5", " 5", "soon", "Sun, 22 Nov", "٣"])
    func `any other text requests no pause`(field: String?) {
        #expect(RetryPause.parse(field, now: Self.now) == nil)
    }
}
