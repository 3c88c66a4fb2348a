// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

/// Which streams hear a heartbeat in which second: a ring of lists, so that a tick touches no stream but those.
struct HeartbeatWheel {
    /// By second, one more than the longest interval.
    private var turns: [[ReplyAddress]] = Array(
        repeating: [], count: Int(Limits.heartbeatIntervalMax.components.seconds) + 1)
    /// The second whose turn was last.
    private var second: Int

    /// Begins at a second of the loop's clock.
    init(second: Int) { self.second = second }

    /// Gives a stream its turn in so many seconds: 1 to the longest interval.
    mutating func schedule(_ stream: ReplyAddress, inSeconds seconds: Int64) {
        turns[(second + Int(seconds)) % turns.count].append(stream)
    }

    /// Takes out whose turn came up to a second; streams that are gone may be among them.
    mutating func advance(to second: Int) -> [ReplyAddress] {
        var due: [ReplyAddress] = []
        // After a whole round everybody had a turn.
        let first = max(self.second + 1, second - turns.count + 1)
        for passed in first..<max(second + 1, first) {
            due += turns[passed % turns.count]
            turns[passed % turns.count] = []
        }
        self.second = max(self.second, second)
        return due
    }
}
