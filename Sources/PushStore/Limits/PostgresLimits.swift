// SPDX-License-Identifier: Apache-2.0

/// The bounds of the work with PostgreSQL.
package enum PostgresLimits {
    /// The maximum number of attempts to commit a transaction that concurrent ones prevent; then it is refused as busy.
    package static let attemptCountMax = 10
    /// The maximum pause before another attempt, in milliseconds.
    package static let pauseMillisecondsMax = 128
    /// The time from the beginning of a sweep to the next, in milliseconds.
    static let sweepMilliseconds: Int64 = 3_600_000
    /// The number of pages of `pending` that one step of a sweep reads, some 2 MiB.
    static let pagesSweptPerStep: Int64 = 256
    /// The number of notifications that a node writes for a device until the bounds are applied.
    package static let rowsWrittenUntilTrim = 32
    /// The number of notifications that are dropped at once because of a bound: more than were written.
    static let rowsTrimmedCountMax = 64
    /// The maximum age of a connected device's last-seen time after a sweep, in seconds.
    static let seenSeconds: Int64 = 6 * 3600
    /// The number of trace rows that are read for the first event of a notification.
    static let traceRowsReadPerOriginCountMax: Int64 = 32
    /// The time for which a webhook waits for the first event of a notification, in milliseconds.
    ///
    /// Another node may write it later than the event that the webhook reports.
    static let traceOriginMilliseconds: Int64 = 10_000
    /// The time between the deletions of old trace rows, in milliseconds.
    static let traceTrimMilliseconds: Int64 = 30_000
    /// The time for which a node trusts that it delivers to webhooks, in milliseconds.
    static let webhookOwnerMilliseconds: Int64 = 500
}
