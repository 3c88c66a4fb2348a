// SPDX-License-Identifier: Apache-2.0

package import PushSQLite

/// What a clock that is wrong must not do: take away for good what would be too old if it were right.
extension AgentDatabase {
    /// How far the clock may have gone since the last look without being doubted.
    package static let clockLeapSecondsMax: Int64 = 7 * 24 * 3600
    /// How long a clock is doubted that went further: long enough to be noticed and set.
    package static let clockDoubtSeconds: Int64 = 24 * 3600
    /// Looks in between are not written down.
    private static let clockNoteSeconds: Int64 = 3600

    /// Whether the clock is to be believed, by what it said at earlier looks; inside a transaction.
    ///
    /// One that goes back makes nothing old. One that leaps ahead by more than a week is right after a holiday, and wrong
    /// after an empty battery: nobody knows before it has gone on for a day. A leap in doubt is a new doubt.
    package func trustsClock(nowUnixSeconds now: Int64) throws(SQLiteError) -> Bool {
        let trusted = try facts.value(of: .clockTrustedUnixSeconds)
        let doubted = try facts.value(of: .clockDoubtedUnixSeconds) ?? 0
        let isNear = trusted.map { now - $0 <= Self.clockLeapSecondsMax } ?? true
        guard isNear || (Self.clockDoubtSeconds...Self.clockLeapSecondsMax).contains(now - doubted) else {
            if !(0...Self.clockLeapSecondsMax).contains(now - doubted) {
                try facts.set(.clockDoubtedUnixSeconds, to: now)
            }
            return false
        }
        if doubted != 0 { try facts.set(.clockDoubtedUnixSeconds, to: 0) }
        if let trusted, (0..<Self.clockNoteSeconds).contains(now - trusted) { return true }
        try facts.set(.clockTrustedUnixSeconds, to: now)
        return true
    }
}
