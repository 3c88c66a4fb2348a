// SPDX-License-Identifier: Apache-2.0

/// The bounds of the work with PostgreSQL.
enum PostgresLimits {
    /// The maximum number of attempts to commit a transaction that concurrent ones prevent; then it is refused as busy.
    static let attemptCountMax = 10
    /// The maximum pause before another attempt, in milliseconds.
    static let pauseMillisecondsMax = 128
}
