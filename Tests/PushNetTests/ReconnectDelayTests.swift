// SPDX-License-Identifier: Apache-2.0

import PushNet
import Testing

struct ReconnectDelayTests {
    @Test(arguments: [0.0, 0.5, 1.0])
    func `the delay before a new attempt grows, and is at most a second`(random: Double) {
        var delay = ReconnectDelay()
        let delays = (0..<40).map { _ in delay.next(random: random) }
        #expect(delays == delays.sorted())
        #expect(delays.allSatisfy { $0 <= .seconds(1) })
        #expect(delays.last == .milliseconds(Int64(1_000 * random)))
        delay.reset()
        #expect(delay.next(random: 1) == .milliseconds(50))
    }
}
