// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The structured log: one line of `key=value` per event on standard error.
///
/// No call waits for the reader of standard error, and no event can flood the log: see `LogOutput` and `LogBuckets`.
package struct EventLog: Sendable {
    /// The severity of an event; the raw value is syslog's.
    package enum Level: Int, Sendable, CaseIterable {
        case error = 3
        case warning = 4
        case info = 6
        case debug = 7

        /// The level's name in log lines and in the configuration.
        package var word: String {
            switch self {
            case .error: "error"
            case .warning: "warning"
            case .info: "info"
            case .debug: "debug"
            }
        }
    }

    /// The lowest level that is written.
    ///
    /// Relaxed ordering suffices, because no other data depends on it.
    private final class Threshold: Sendable {
        let level: Atomic<Int>

        init(_ level: Level) { self.level = Atomic(level.rawValue) }
    }

    private let minimum: Threshold
    private let output: LogOutput

    /// Creates a log on standard error.
    ///
    /// - Parameters:
    ///   - threshold: The lowest level that is written. With `debug`, no line is omitted because of its rate.
    ///   - isJournal: Whether standard error is the journal, which expects a `<level>` prefix and adds the time itself.
    package init(threshold: Level, isJournal: Bool) {
        self.init(threshold: threshold, isJournal: isJournal, descriptor: STDERR_FILENO)
    }

    /// Creates a log on a descriptor that the caller owns.
    init(threshold: Level, isJournal: Bool, descriptor: Int32) {
        minimum = Threshold(threshold)
        output = LogOutput(descriptor: descriptor, isJournal: isJournal)
    }

    /// The lowest level that is written; with `debug`, no line is omitted because of its rate.
    package var threshold: Level {
        get { Level(rawValue: minimum.level.load(ordering: .relaxed)) ?? .info }
        nonmutating set { minimum.level.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// Returns a UNIX time in seconds as a log line shows it: RFC 3339 in UTC.
    package static func timeText(unixSeconds: Int64) -> String { LogLine.dateAndTime(time_t(unixSeconds)) + "Z" }

    /// Starts the writer thread, so that lines wait for a slow reader instead of being dropped.
    ///
    /// Call it once, after the program has blocked the signals that it waits for: the thread inherits the signal mask.
    package func startThread() { output.startThread() }

    /// Writes all waiting lines, and the counts of omitted lines.
    ///
    /// Call it before the program ends.
    ///
    /// - Parameter timeout: The longest time to wait for a reader.
    package func flush(within timeout: Duration = LogBounds.flushTimeout) { output.flush(within: timeout) }

    /// Ends the thread once everything is written.
    func endThread() { output.endThread() }

    /// Logs a failure that an administrator must repair.
    package func error(
        _ event: StaticString, _ fields: KeyValuePairs<String, String> = [:], about subject: String? = nil
    ) {
        write(.error, event, fields, about: subject)
    }

    /// Logs a condition that an administrator may have to repair.
    package func warning(
        _ event: StaticString, _ fields: KeyValuePairs<String, String> = [:], about subject: String? = nil
    ) {
        write(.warning, event, fields, about: subject)
    }

    /// Logs an event of interest to an administrator.
    ///
    /// - Parameters:
    ///   - event: The event's name, as listed in docs/reference/log-events.md.
    ///   - fields: The fields, which must not contain keys, secrets, tokens or payload text.
    ///   - subject: The device or source of an event that one peer can cause often; each is logged once a minute.
    package func info(
        _ event: StaticString, _ fields: KeyValuePairs<String, String> = [:], about subject: String? = nil
    ) {
        write(.info, event, fields, about: subject)
    }

    /// Logs an event of interest to a developer.
    package func debug(_ event: StaticString, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]) {
        guard threshold == .debug else { return }
        write(.debug, event, fields(), about: nil)
    }

    private func write(
        _ level: Level, _ event: StaticString, _ fields: KeyValuePairs<String, String>, about subject: String?
    ) {
        guard level.rawValue <= threshold.rawValue else { return }
        guard threshold != .debug else { return output.append(level, event, fields, leftOutCount: 0) }
        let cause = LogBuckets.Cause(event: event.description, level: level)
        guard let leftOutCount = output.admit(cause, about: subject) else { return }
        output.append(level, event, fields, leftOutCount: leftOutCount)
    }
}
