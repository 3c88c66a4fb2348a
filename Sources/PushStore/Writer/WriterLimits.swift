// SPDX-License-Identifier: Apache-2.0

/// Bounds of the writer's own work, each with what happens there.
enum WriterLimits {
    /// Commands in one transaction; the rest waits for the next one.
    static let commandsPerTransactionCountMax = 1024
    /// Commands that wait for the writer; beyond it notifications are refused with `ServiceUnavailable`.
    static let queuedCommandCountMax = 65_536
    /// Rows read for waiting streams between two transactions.
    static let rowsReadPerTurnCountMax = 4096
    /// Expired rows deleted in one step.
    static let rowsSweptPerStepCountMax = 1000
    /// How long a full disk is left alone before the reserve is tried again, in milliseconds.
    static let reserveRetryMilliseconds: Int64 = 1000
    /// The reserve for deletions on a full disk, in bytes; the write-ahead log is copied when it is as long.
    static let reserveByteCountMax = 16 << 20
    /// The reserve on a very small disk, in bytes.
    static let reserveByteCountMin = 128 << 10
    /// SQLite's page, in bytes.
    static let pageByteCount = 4096
}
