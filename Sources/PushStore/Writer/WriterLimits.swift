// SPDX-License-Identifier: Apache-2.0

/// Bounds of the writer's own work, each with what happens there.
package enum WriterLimits {
    /// Commands in one transaction; the rest waits for the next one.
    static let commandsPerTransactionCountMax = 1024
    /// How long a notification that went out is not written because its acknowledgement may come, in milliseconds.
    static let graceMilliseconds: Int64 = 4
    /// The same while many wait together, when writing is what the time goes to.
    static let busyGraceMilliseconds: Int64 = 16
    /// How many are many.
    static let busyCount = 64
    /// How long a deletion that nobody waits for may wait for company, in milliseconds.
    static let deletionDelayMilliseconds: Int64 = 10
    /// Deletions in one transaction.
    static let deletionsPerTransactionCountMax = 1024
    /// How long a notification may be accepted and not written with the durability `relaxed`, in milliseconds.
    static let relaxedMilliseconds: Int64 = 100
    /// How long the log may be written and not synchronized with a durability below `full`, in milliseconds.
    static let synchronizationMilliseconds: Int64 = 1000
    /// Cards of devices in memory; of those beyond it that have no recent notifications, some are forgotten.
    package static let cardCountMax = 1 << 20
    /// Recent notifications; beyond it they are settled.
    package static let recentCountMax = 1 << 18
    /// Notifications settled in one step.
    static let settledPerStepCountMax = 512
    /// How many sequences are reserved at once; so many are passed over when the server ends without closing.
    static let sequenceBlock: Int64 = 1 << 20
    /// Commands that wait for the writer; beyond it notifications are refused with `ServiceUnavailable`.
    static let queuedCommandCountMax = 65_536
    /// Rows read for waiting streams between two transactions.
    static let rowsReadPerTurnCountMax = 4096
    /// Expired rows deleted in one step.
    static let rowsSweptPerStepCountMax = 1000
    /// Devices whose registrations expire in one step.
    static let devicesSweptPerStepCountMax = 100
    /// Devices in one step of which is written down that they were seen.
    static let devicesNotedPerStepCountMax = 1000
    /// Pages of a backup that are copied between two transactions: 256 KiB.
    static let pagesCopiedPerStepCountMax = 64
    /// How long it may be written of a device that it was seen before it is written again, in milliseconds.
    static let seenIntervalMilliseconds: Int64 = 3_600_000
    /// How long devices have to come back after a long stop before any is taken for gone, in milliseconds: a day.
    static let returnMilliseconds: Int64 = 86_400_000
    /// How long a full disk is left alone before the reserve is tried again, in milliseconds.
    static let reserveRetryMilliseconds: Int64 = 1000
    /// The reserve for deletions on a full disk, in bytes; the write-ahead log is copied when it is as long.
    static let reserveByteCountMax = 16 << 20
    /// The reserve on a very small disk, in bytes.
    static let reserveByteCountMin = 128 << 10
    /// How long what the trace has in memory waits for a transaction, in milliseconds.
    static let traceFlushMilliseconds: Int64 = 1000
    /// A row of the trace ends when it has as many bytes; so much in memory is written at once.
    static let traceRowByteCount = 32 << 10
    /// What the trace has in memory while the disk is full, in bytes; beyond it the trace has a gap.
    static let traceBufferByteCountMax = 16 << 20
    /// Rows of the trace deleted in one step.
    static let traceRowsTrimmedPerStepCountMax = 1000
    /// Bytes of the trace deleted in one step.
    static let traceBytesTrimmedPerStepMax: Int64 = 4 << 20
    /// Bytes of the trace searched between two transactions.
    static let traceBytesSearchedPerStep = 256 << 10
    /// Rows read between two transactions for the beginnings of traces.
    static let traceOriginsReadPerStepCountMax = 200
    /// Notifications with one id that a search tells of.
    static let traceNotificationCountMax = 100
    /// Beginnings of traces that searches keep in mind.
    static let traceOriginCountMax = 20_000
    /// SQLite's page, in bytes.
    static let pageByteCount = 4096

    /// The same as `seenIntervalMilliseconds`, or a quarter of how long a device may be unseen if that is shorter.
    static func seenIntervalMilliseconds(life lifeSeconds: Int64?) -> Int64 {
        guard let lifeSeconds, (0..<14_400).contains(lifeSeconds) else { return seenIntervalMilliseconds }
        return lifeSeconds * 250
    }
}
