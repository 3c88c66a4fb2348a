// SPDX-License-Identifier: Apache-2.0

/// The bounds of every log; docs/reference/log-events.md describes the behavior at each bound.
enum LogBounds {
    /// The largest size of waiting lines in bytes; further lines are dropped and counted.
    static let waitingByteCountMax = 1 << 20
    /// The number of bytes that the log's thread writes with one system call.
    static let chunkByteCountMax = 64 * 1024
    /// The longest line in bytes: the size that a pipe accepts atomically (`PIPE_BUF`).
    static let lineByteCountMax = 4096
    /// The longest time that a program waits for its last lines before it exits.
    static let flushTimeout = Duration.seconds(1)
    /// The seconds between two lines of the same event about the same subject.
    static let subjectSeconds: Int64 = 60
    /// The largest number of remembered pairs of event and subject.
    static let subjectCountMax = 1024
    /// The seconds from the first omitted line to the line that reports the count.
    static let summarySeconds: Int64 = 60

    /// Returns the number of lines of one event in a burst, and the number of lines a minute after that.
    ///
    /// - Parameter level: The event's level.
    /// - Returns: The burst and the rate.
    static func rate(of level: EventLog.Level) -> (burst: Int64, perMinute: Int64) {
        switch level {
        case .error: (200, 60)
        case .warning: (50, 10)
        case .info, .debug: (100, 60)
        }
    }
}
