// SPDX-License-Identifier: Apache-2.0

/// Decides which log lines are written: a token bucket for each event, and a pause for each subject of an event.
///
/// ```
/// line ──▶ event's bucket empty? ──no──▶ subject's pause over? ──yes──▶ written, with left_out= of the event
///                 │ yes                        │ no
///                 └────────▶ left out, counted ◀┘        60 s without such a line ──▶ log_lines_left_out
/// ```
///
/// The code defines all events, so their number is bounded. Subjects come from peers, so their table has a bound.
struct LogBuckets {
    /// The event and level of a line.
    struct Cause: Hashable {
        let event: String
        let level: EventLog.Level
    }

    /// The number of omitted lines of an event.
    struct Summary: Equatable {
        let cause: Cause
        let count: Int
    }

    private struct State {
        /// The time at which the bucket is full again.
        var fullAt = MonotonicTime.past
        var leftOutCount = 0
        /// The time of the first line that was omitted since the last report.
        var owedSince = MonotonicTime.past
    }

    private struct Subject: Hashable {
        let cause: Cause
        let name: String
    }

    /// The earliest time at which the next summary may be due; nil if no line was omitted.
    private(set) var nextSummary: MonotonicTime?
    private var states: [Cause: State] = [:]
    /// The end of each subject's pause.
    private var pauses: [Subject: MonotonicTime] = [:]

    /// Decides whether one line is written.
    ///
    /// - Parameters:
    ///   - cause: The line's event and level.
    ///   - subject: The device, address or other subject whose lines are written once a minute; nil for no subject.
    ///   - now: The current time.
    /// - Returns: Nil if the line is omitted, else the number of lines that were omitted before it.
    mutating func admit(_ cause: Cause, about subject: String?, now: MonotonicTime) -> Int? {
        var state = states[cause] ?? State()
        defer { states[cause] = state }
        guard let fullAt = Self.take(from: state.fullAt, cause.level, now: now),
            beginPause(of: subject.map { Subject(cause: cause, name: $0) }, now: now)
        else {
            if state.leftOutCount == 0 {
                state.owedSince = now
                nextSummary = min(nextSummary ?? .future, Self.summaryTime(now))
            }
            state.leftOutCount &+= 1
            return nil
        }
        state.fullAt = fullAt
        defer { state.leftOutCount = 0 }
        return state.leftOutCount
    }

    /// Removes and returns the summaries that are due.
    ///
    /// - Parameter now: The current time; nil returns all summaries.
    /// - Returns: The summaries, sorted by event name.
    mutating func takeSummaries(now: MonotonicTime?) -> [Summary] {
        guard let nextSummary, now.map({ $0 >= nextSummary }) ?? true else { return [] }
        let owed = states.filter { $0.value.leftOutCount > 0 }
        let due = owed.filter { _, state in now.map { $0 >= Self.summaryTime(state.owedSince) } ?? true }
        for cause in due.keys { states[cause]?.leftOutCount = 0 }
        let rest = owed.filter { due[$0.key] == nil }.map(\.value.owedSince).min()
        self.nextSummary = rest.map(Self.summaryTime)
        return due.map { Summary(cause: $0.key, count: $0.value.leftOutCount) }
            .sorted { ($0.cause.event, $0.cause.level.rawValue) < ($1.cause.event, $1.cause.level.rawValue) }
    }

    /// Returns the time of the summary of a line that was omitted at a time.
    private static func summaryTime(_ owedSince: MonotonicTime) -> MonotonicTime {
        owedSince.advanced(bySeconds: LogBounds.summarySeconds)
    }

    /// Takes a token from a bucket.
    ///
    /// - Parameters:
    ///   - fullAt: The time at which the bucket is full again.
    ///   - level: The level, which selects the rate.
    ///   - now: The current time.
    /// - Returns: The new time at which the bucket is full again; nil if no token is left.
    /// - SeeAlso: ITU-T I.371, the generic cell rate algorithm.
    private static func take(
        from fullAt: MonotonicTime, _ level: EventLog.Level, now: MonotonicTime
    ) -> MonotonicTime? {
        let rate = LogBounds.rate(of: level)
        let tokenNanoseconds = 60_000_000_000 / rate.perMinute
        let capacityNanoseconds = tokenNanoseconds * rate.burst
        let outNanoseconds = min(max(0, fullAt.nanoseconds(since: now)), capacityNanoseconds) + tokenNanoseconds
        return outNanoseconds <= capacityNanoseconds ? now.advanced(byNanoseconds: outNanoseconds) : nil
    }

    /// Begins a subject's pause; returns false while an earlier one lasts.
    private mutating func beginPause(of subject: Subject?, now: MonotonicTime) -> Bool {
        guard let subject else { return true }
        if let end = pauses[subject], end > now { return false }
        if pauses.count >= LogBounds.subjectCountMax { pauses = pauses.filter { $0.value > now } }
        // A full table still keeps every pause. The event's bucket still bounds the lines of further subjects.
        if pauses.count < LogBounds.subjectCountMax || pauses[subject] != nil {
            pauses[subject] = now.advanced(bySeconds: LogBounds.subjectSeconds)
        }
        return true
    }
}
