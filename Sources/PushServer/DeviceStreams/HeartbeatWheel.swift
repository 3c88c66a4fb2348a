// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

/// The heartbeat schedule of streams: a ring of lists, so that a tick touches only the streams that are due.
struct HeartbeatWheel {
    /// The streams by second; the ring has one second more than the longest interval.
    private var turns: [[ReplyAddress]] = Array(
        repeating: [], count: Int(Limits.heartbeatIntervalMax.components.seconds) + 1)
    /// The last second that was processed.
    private var second: Int

    /// Creates an empty wheel at a second of the loop's clock.
    init(second: Int) { self.second = second }

    /// Schedules a stream after a number of seconds, from 1 to the longest interval.
    mutating func schedule(_ stream: ReplyAddress, inSeconds seconds: Int64) {
        turns[(second + Int(seconds)) % turns.count].append(stream)
    }

    /// Removes and returns the streams that are due up to a second; closed streams may be among them.
    mutating func advance(to second: Int) -> [ReplyAddress] {
        var due: [ReplyAddress] = []
        // After a whole round, every stream was due.
        let first = max(self.second + 1, second - turns.count + 1)
        for passed in first..<max(second + 1, first) {
            due += turns[passed % turns.count]
            turns[passed % turns.count] = []
        }
        self.second = max(self.second, second)
        return due
    }
}
