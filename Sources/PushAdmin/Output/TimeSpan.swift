// SPDX-License-Identifier: Apache-2.0

/// Lengths of time as people type them: `30m`, `12h`, `7d`.
enum TimeSpan {
    /// What may be typed, for a message.
    static let expectation = "a number and a unit: s, m, h or d"

    /// The seconds; nil for what is none, nothing, or more than a hundred years.
    static func seconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()), count > 0,
            count <= 36_500 * 86_400 / unit
        else { return nil }
        return count * unit
    }
}
