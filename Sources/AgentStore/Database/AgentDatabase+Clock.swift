// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushSQL

/// The check of the device's clock, so that a wrong clock cannot delete data as too old.
extension AgentDatabase {
    /// The maximum advance of the clock between two checks without distrust, in seconds.
    static let clockAdvanceSecondsMax: Int64 = 7 * 24 * 3600
    /// The time for which a clock that advanced further is distrusted, in seconds; long enough to notice and fix it.
    static let clockDoubtSeconds: Int64 = 24 * 3600
    /// The minimum time between two stored checks, in seconds.
    private static let clockCheckIntervalSeconds: Int64 = 3600

    /// Returns whether the clock is trusted, from its values at earlier checks; must be called inside a transaction.
    ///
    /// A clock that is set back cannot make entries expire early. A clock that advances by more than a week is right
    /// after a holiday, but wrong after an empty battery. The difference is unknown until the clock has run for a day.
    /// Another advance during that day restarts the wait.
    ///
    /// - Parameter now: The clock now; parts of a second do not count.
    /// - Returns: Whether the clock is trusted.
    /// - Throws: `SQLError` if a value cannot be read or stored.
    package func trustsClock(now: Timestamp) throws(SQLError) -> Bool {
        let trusted = try state.time(of: .clockTrustedAt)
        let doubted = try state.time(of: .clockDoubtedAt) ?? .unixEpoch
        let isNear = trusted.map { now.seconds(since: $0) <= Self.clockAdvanceSecondsMax } ?? true
        let doubtSeconds = now.seconds(since: doubted)
        guard isNear || (Self.clockDoubtSeconds...Self.clockAdvanceSecondsMax).contains(doubtSeconds) else {
            if !(0...Self.clockAdvanceSecondsMax).contains(doubtSeconds) {
                try state.set(.clockDoubtedAt, to: now)
            }
            return false
        }
        if doubted != .unixEpoch { try state.set(.clockDoubtedAt, to: .unixEpoch) }
        if let trusted, (0..<Self.clockCheckIntervalSeconds).contains(now.seconds(since: trusted)) { return true }
        try state.set(.clockTrustedAt, to: now)
        return true
    }
}
