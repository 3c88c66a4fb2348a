// SPDX-License-Identifier: Apache-2.0

/// Bounds of the writer's own work; docs/reference/limits.md says what happens at each.
enum WriterLimits {
    /// Commands in one transaction; the rest waits for the next one.
    static let commandsPerTransactionCountMax = 4096
    /// Commands that wait for the writer; beyond it notifications are refused with `ServiceUnavailable`.
    static let queuedCommandCountMax = 65_536
    /// Rows read for waiting streams between two transactions.
    static let rowsReadPerTurnCountMax = 4096
    /// Expired rows deleted in one step.
    static let rowsSweptPerStepCountMax = 1000
    /// Pages in the write-ahead log, of 4 KiB, from which on it is copied into the database: 16 MiB.
    static let logPageCountHigh = 4000
}
