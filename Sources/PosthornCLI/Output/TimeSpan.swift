// SPDX-License-Identifier: Apache-2.0

/// Parses durations as users type them: `30m`, `12h`, `7d`.
enum TimeSpan {
    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    /// The maximum duration in days: 100 years.
    private static let dayCountMax: Int64 = 36_500

    /// Describes the expected input, for the error message about an invalid duration.
    static func expectation(insteadOf text: String) -> String {
        guard let (count, _) = parts(text) else { return "use a number with a unit: s, m, h or d" }
        return count > 0 ? "use at most \(dayCountMax)d" : "use a duration above zero"
    }

    /// Returns the duration in seconds; nil if the text is invalid, zero, or more than 100 years.
    static func seconds(_ text: String) -> Int64? {
        guard let (count, unit) = parts(text), count > 0, count <= dayCountMax * 86_400 / unit else { return nil }
        return count * unit
    }

    /// Returns whether a text has the form of a duration, also if it is zero, negative or too long.
    static func isDuration(_ text: String) -> Bool { parts(text) != nil }

    /// Formats a duration, for example `45 s`, `12 min 3 s`, `16 h 29 min`, `2 d 4 h`.
    static func text(seconds: Int64) -> String {
        guard seconds >= 0 else { return "-" + text(seconds: -max(seconds, -Int64.max)) }
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 3600 { return "\(seconds / 60) min \(seconds % 60) s" }
        if seconds < 86_400 { return "\(seconds / 3600) h \(seconds % 3600 / 60) min" }
        return "\(seconds / 86_400) d \(seconds % 86_400 / 3600) h"
    }

    private static func parts(_ text: String) -> (count: Int64, unit: Int64)? {
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()) else { return nil }
        return (count, unit)
    }
}
