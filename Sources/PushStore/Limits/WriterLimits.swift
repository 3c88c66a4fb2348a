// SPDX-License-Identifier: Apache-2.0

/// The bounds of the writer's own work, and the consequence of each.
enum WriterLimits {
    /// The maximum number of commands in one transaction; the rest waits for the next one.
    static let commandsPerTransactionCountMax = 1024
    /// The time for which a delivered notification stays unwritten, because its acknowledgement may arrive, in
    /// milliseconds.
    static let graceMilliseconds: Int64 = 4
    /// The same time while many notifications wait and writing limits the throughput, in milliseconds.
    static let busyGraceMilliseconds: Int64 = 64
    /// The number of pending writes, or of notifications that a host holds unwritten or has just passed to the store,
    /// from which `busyGraceMilliseconds` applies.
    static let busyCount = 64
    /// The time for which a notification counts as just passed to the store, in milliseconds.
    static let busyMilliseconds: Int64 = 16
    /// The time for which records wait in the journal of a host, in milliseconds; the store may take them earlier.
    static let journalDelayMilliseconds: Int64 = 50
    /// The number of records in the journal of a host that wake the store.
    static let journalRecordCountMax = 512
    /// The time for which a deletion without a waiting request is delayed to share a transaction, in milliseconds.
    ///
    /// The transaction of a deletion also writes the trace, so fewer of them write fewer pages.
    static let deletionDelayMilliseconds: Int64 = 10
    /// The maximum number of deletions in one transaction on a full disk; as many are written without a delay.
    static let deletionsPerTransactionCountMax = 1024
    /// The maximum time from acceptance to the write with the durability `relaxed`, in milliseconds.
    static let relaxedMilliseconds: Int64 = 100
    /// The maximum time from a commit to its synchronization with a durability below `full`, in milliseconds.
    static let synchronizationMilliseconds: Int64 = 1000
    /// The maximum number of device records in memory.
    ///
    /// Above it, some records without recent notifications are evicted.
    static let deviceQueueCountMax = 1 << 20
    /// The maximum number of recent notifications; more are archived.
    static let recentCountMax = 1 << 18
    /// The maximum number of notifications archived in one step.
    static let archivedPerStepCountMax = 512
    /// The number of sequences that are reserved together.
    ///
    /// As many may be skipped when the server stops without closing the store.
    static let sequenceBlock: Int64 = 1 << 20
    /// The maximum number of commands in the queue.
    ///
    /// Above it, notifications are refused with `ServiceUnavailable`.
    static let queuedCommandCountMax = 65_536
    /// The maximum number of requests and streams in the queue beyond `queuedCommandCountMax`; more are refused.
    static let queuedRequestCountMax = 16_384
    /// The time for requests in one turn, in milliseconds.
    ///
    /// Other requests wait while notifications are processed.
    static let requestSliceMilliseconds: Int64 = 2
    /// The maximum number of requests in one turn on a full disk, where no slice bounds them.
    static let requestsOnFullDiskCountMax = 32
    /// The maximum number of requests of one principal that wait for a slice.
    ///
    /// The principals are the broadcasts of an app, the channels of an app, administrators, and the devices that
    /// enrol.
    static let waitingRequestCountMax = 1024
    /// The maximum number of requests of a device that wait for its queue; more are refused.
    static let parkedRequestCountMax = 64
    /// The maximum number of removals of apps and channels that wait for the queues of devices; more are refused.
    static let parkedWideCommandCountMax = 64
    /// The maximum number of broadcasts that the loop of a host has not delivered yet; more are refused.
    static let undeliveredBroadcastCountMax = 256
    /// The maximum number of subscriptions of a device whose queue is handed to a host.
    static let handedSubscriptionCountMax = 64
    /// The number of records in the journal of a host from which it passes notifications on to the store.
    static let journalFullRecordCount = 16_384
    /// The maximum number of requests of one lane that wait for a slice, of all its principals.
    static let waitingRequestPerLaneCountMax = 16_384
    /// The number of rows of a list that one step reads.
    static let rowsListedPerStepCountMax = 64
    /// The number of rows that one step of a removal or a filter change changes.
    static let rowsChangedPerStepCountMax = 64
    /// The number of rows read for streams between two transactions.
    static let rowsReadPerTurnCountMax = 1024
    /// The maximum number of expired rows deleted in one step.
    static let rowsSweptPerStepCountMax = 256
    /// The maximum number of devices whose registrations expire in one step.
    static let devicesSweptPerStepCountMax = 100
    /// The maximum number of devices whose last-seen times are written in one step.
    static let devicesNotedPerStepCountMax = 1000
    /// The number of backup pages copied between two transactions: 256 KiB.
    static let pagesCopiedPerStepCountMax = 64
    /// The minimum time between two writes of a device's last-seen time, in milliseconds.
    static let seenIntervalMilliseconds: Int64 = 3_600_000
    /// The time that devices have to reconnect after a long stop before any expires, in milliseconds: a day.
    static let reconnectionMilliseconds: Int64 = 86_400_000
    /// The pause before the reserve is allocated again on a full disk, in milliseconds.
    static let reserveRetryMilliseconds: Int64 = 1000
    /// The maximum size of the reserve for deletions, in bytes.
    ///
    /// A checkpoint runs at the latest when the write-ahead log is as long as the reserve.
    static let reserveByteCountMax = 16 << 20
    /// The number of pages in the write-ahead log at which a checkpoint runs if none ran within
    /// `writeDelayMilliseconds`.
    ///
    /// Notifications wait for a checkpoint, so one that copies few pages is better.
    static let checkpointPageCount = 1024
    /// The minimum size of the reserve, on a very small disk, in bytes.
    static let reserveByteCountMin = 128 << 10
    /// The time for which trace events wait in memory for a transaction, and the minimum time between two checkpoints
    /// while the log is shorter than the reserve, in milliseconds.
    static let writeDelayMilliseconds: Int64 = 1000
    /// The maximum time from the acceptance of a notification by a host to the record of its first event, in
    /// milliseconds.
    static let traceDelayMilliseconds: Int64 = 1000
    /// The size of a trace row in bytes.
    static let traceRowByteCount = 32 << 10
    /// The size of the trace's buffer, in bytes, at which it is written immediately.
    static let traceFlushByteCount = 256 << 10
    /// The maximum size of the trace's buffer while the disk is full, in bytes.
    ///
    /// Above it, the trace has a gap.
    static let traceBufferByteCountMax = 16 << 20
    /// The maximum number of trace rows deleted in one step.
    static let traceRowsTrimmedPerStepCountMax = 1000
    /// The number of trace bytes after which a deletion step stops.
    static let traceBytesTrimmedPerStepMax: Int64 = 512 << 10
    /// The number of trace bytes searched between two transactions.
    static let traceBytesSearchedPerStep = 256 << 10
    /// The maximum number of rows read between two transactions to find the first events of notifications.
    static let traceOriginsReadPerStepCountMax = 200
    /// The maximum number of rows read to find one notification's first event.
    static let traceRowsPerOriginCountMax = 1000
    /// The maximum number of notifications with the same ID that a search returns.
    static let traceNotificationCountMax = 100
    /// The maximum number of notifications' first events that searches cache.
    static let traceOriginCountMax = 20_000
    /// The maximum number of delivery history entries of all devices in memory, at 16 bytes each.
    ///
    /// Above it, some histories are evicted and read again on demand.
    static let historyEntryCountMax = 4 << 20
    /// The time that a changed delivery history waits to be written together with others, in milliseconds.
    static let historyDelayMilliseconds: Int64 = 60_000
    /// The maximum number of delivery histories written in one step.
    static let historiesPerStepCountMax = 64
    /// The pause between two steps of writing delivery histories, in milliseconds.
    static let historyStepMilliseconds: Int64 = 10
    /// The size of an SQLite page, in bytes.
    static let pageByteCount = 4096

    /// Returns `seenIntervalMilliseconds`, or a quarter of the time that a device may be unseen if that is shorter.
    static func seenIntervalMilliseconds(life lifeSeconds: Int64?) -> Int64 {
        guard let lifeSeconds, (0..<14_400).contains(lifeSeconds) else { return seenIntervalMilliseconds }
        return lifeSeconds * 250
    }
}
