// SPDX-License-Identifier: Apache-2.0

/// Lengths of time as people type them: `30m`, `12h`, `7d`.
enum TimeSpan {
    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    /// A hundred years.
    private static let dayCountMax: Int64 = 36_500

    /// What may be typed in the place of something that is no length of time, for a message.
    static func expectation(insteadOf text: String) -> String {
        guard let (count, _) = parts(text) else { return "a number and a unit: s, m, h or d" }
        return count > 0 ? "at most \(dayCountMax)d" : "more than nothing"
    }

    /// The seconds; nil for what is none, nothing, or more than a hundred years.
    static func seconds(_ text: String) -> Int64? {
        guard let (count, unit) = parts(text), count > 0, count <= dayCountMax * 86_400 / unit else { return nil }
        return count * unit
    }

    private static func parts(_ text: String) -> (count: Int64, unit: Int64)? {
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()) else { return nil }
        return (count, unit)
    }
}
