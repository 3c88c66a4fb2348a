// SPDX-License-Identifier: Apache-2.0

/// Decides which lines of a log are written: a token bucket for each event, and a pause for each subject of an event.
///
/// ```
/// line ──▶ event's bucket empty? ──no──▶ subject's pause over? ──yes──▶ written, with left_out= of the event
///                 │ yes                        │ no
///                 └────────▶ left out, counted ◀┘        60 s without such a line ──▶ log_lines_left_out
/// ```
///
/// The code names all events, so their number is bounded. Subjects come from peers: their table has a bound.
struct LogBuckets {
    /// An event at a level.
    struct Cause: Hashable {
        let event: String
        let level: EventLog.Level
    }

    /// The number of lines of an event that were left out.
    struct Summary: Equatable {
        let cause: Cause
        let count: Int
    }

    private struct State {
        /// The moment at which the bucket is full again, in monotonic nanoseconds.
        var fullAt: Int64 = 0
        var leftOutCount = 0
        /// The moment of the first line that was left out since the last report.
        var owedSince: Int64 = 0
    }

    private struct Subject: Hashable {
        let cause: Cause
        let name: String
    }

    /// The moment at which the next summary may be due; nil while nothing is owed.
    private(set) var nextSummary: Int64?
    private var states: [Cause: State] = [:]
    /// The end of each subject's pause.
    private var pauses: [Subject: Int64] = [:]

    /// Decides about one line.
    ///
    /// - Parameters:
    ///   - cause: The line's event and level.
    ///   - subject: The device, address or other subject whose lines come once a minute; nil for none.
    ///   - now: Monotonic nanoseconds.
    /// - Returns: Nil when the line is left out, else the number of lines that were left out before it.
    mutating func admit(_ cause: Cause, about subject: String?, now: Int64) -> Int? {
        var state = states[cause] ?? State()
        defer { states[cause] = state }
        guard let fullAt = Self.take(from: state.fullAt, cause.level, now: now),
            beginPause(of: subject.map { Subject(cause: cause, name: $0) }, now: now)
        else {
            if state.leftOutCount == 0 {
                state.owedSince = now
                nextSummary = min(nextSummary ?? .max, now + Self.summaryNanoseconds)
            }
            state.leftOutCount &+= 1
            return nil
        }
        state.fullAt = fullAt
        defer { state.leftOutCount = 0 }
        return state.leftOutCount
    }

    /// Takes the summaries that are due.
    ///
    /// - Parameter now: Monotonic nanoseconds; nil takes all that is owed.
    /// - Returns: The summaries by name.
    mutating func takeSummaries(now: Int64?) -> [Summary] {
        guard let nextSummary, now.map({ $0 >= nextSummary }) ?? true else { return [] }
        let owed = states.filter { $0.value.leftOutCount > 0 }
        let due = owed.filter { _, state in now.map { $0 >= state.owedSince + Self.summaryNanoseconds } ?? true }
        for cause in due.keys { states[cause]?.leftOutCount = 0 }
        let rest = owed.filter { due[$0.key] == nil }.map(\.value.owedSince).min()
        self.nextSummary = rest.map { $0 + Self.summaryNanoseconds }
        return due.map { Summary(cause: $0.key, count: $0.value.leftOutCount) }
            .sorted { ($0.cause.event, $0.cause.level.rawValue) < ($1.cause.event, $1.cause.level.rawValue) }
    }

    private static let secondNanoseconds: Int64 = 1_000_000_000
    private static let summaryNanoseconds = LogBounds.summarySeconds * secondNanoseconds

    /// Takes a token.
    ///
    /// - Parameters:
    ///   - fullAt: The moment at which the bucket is full again.
    ///   - level: Selects the rate.
    ///   - now: Monotonic nanoseconds.
    /// - Returns: The new moment at which the bucket is full again; nil when no token is left.
    /// - SeeAlso: ITU-T I.371, the generic cell rate algorithm.
    private static func take(from fullAt: Int64, _ level: EventLog.Level, now: Int64) -> Int64? {
        let rate = LogBounds.rate(of: level)
        let token = 60 * secondNanoseconds / rate.perMinute
        let capacity = token * rate.burst
        let out = min(max(0, fullAt - now), capacity) + token
        return out <= capacity ? now + out : nil
    }

    /// Begins a subject's pause; false while an earlier one lasts.
    private mutating func beginPause(of subject: Subject?, now: Int64) -> Bool {
        guard let subject else { return true }
        if let end = pauses[subject], end > now { return false }
        if pauses.count >= LogBounds.subjectCountMax { pauses = pauses.filter { $0.value > now } }
        // A full table forgets nobody's pause. The event's bucket still bounds the lines of further subjects.
        if pauses.count < LogBounds.subjectCountMax || pauses[subject] != nil {
            pauses[subject] = now + LogBounds.subjectSeconds * Self.secondNanoseconds
        }
        return true
    }
}
