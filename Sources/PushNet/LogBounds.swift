// SPDX-License-Identifier: Apache-2.0

/// The bounds of every log; docs/reference/log-events.md describes what happens at each.
package enum LogBounds {
    /// Bytes of lines that wait for the log's thread; more lines are dropped and counted.
    package static let waitingByteCountMax = 1 << 20
    /// Bytes that the log's thread writes with one system call.
    package static let chunkByteCountMax = 64 * 1024
    /// The longest line, in bytes: as much as a pipe takes in one piece (`PIPE_BUF`).
    package static let lineByteCountMax = 4096
    /// The longest time that an ending program waits for its last lines.
    package static let flushPatience = Duration.seconds(1)
    /// Seconds between two lines of one event about one subject, for events that name a subject.
    package static let subjectSeconds: Int64 = 60
    /// Pairs of event and subject that are remembered.
    package static let subjectCountMax = 1024
    /// Seconds from the first line that was left out to the line that counts them.
    package static let summarySeconds: Int64 = 60

    /// The lines of one event that are written at once, and the lines a minute after that.
    ///
    /// - Parameter level: The event's level.
    /// - Returns: Both numbers.
    package static func rate(of level: EventLog.Level) -> (burst: Int64, perMinute: Int64) {
        switch level {
        case .error: (200, 60)
        case .warning: (50, 10)
        case .info, .debug: (100, 60)
        }
    }
}
