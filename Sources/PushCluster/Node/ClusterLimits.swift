// SPDX-License-Identifier: Apache-2.0

/// The bounds of a node's own work.
enum ClusterLimits {
    /// The maximum number of rows that one batch writes; more wait for the next batch.
    static let rowsPerBatchCountMax = 500
    /// The size of payloads, in bytes, from which a batch takes no further row.
    static let batchByteCountMax = 2 << 20
    /// The maximum number of streams that one batch registers or reads for.
    ///
    /// To read the first rows of a device, PostgreSQL sorts all rows of the device, perhaps thousands. A batch must
    /// take much less time than the timeout of a statement.
    static let streamsPerBatchCountMax = 100
    /// The number of rows that one reading returns for a device, besides those in the window of its stream.
    static let rowsPerReadingCountMax = 64
    /// The maximum number of requests that wait for one worker; more are refused.
    static let jobCountMax = 4096
    /// The time for which heartbeats name a stored broadcast after its number was made, in milliseconds.
    static let broadcastMilliseconds: Int64 = 60_000
    /// The number of stored broadcasts that are read at once.
    static let broadcastsPerReadingCountMax = 100
    /// The maximum number of broadcasts that wait for PostgreSQL or for other nodes; more are refused.
    static let publicationCountMax = 256
    /// The maximum number of devices for which written notifications are counted.
    static let countedDeviceCountMax = 1 << 16
    /// The maximum time that a stopping node has to complete its requests, in milliseconds.
    static let stopMilliseconds = 1_000
    /// The time that a changed delivery history waits to be written together with others, in milliseconds.
    static let historyDelayMilliseconds: Int64 = 60_000
    /// The maximum number of delivery histories that a worker keeps while PostgreSQL does not answer.
    static let unwrittenHistoryCountMax = 10_000
    /// The maximum decrease of the shard's estimated time in milliseconds; a larger one means that its clock was set.
    static let traceTimeMilliseconds: Int64 = 1_000
    /// The number of delivery histories that one transaction writes.
    static let historiesPerTransactionCountMax = 64
    /// The time that events wait to be written together with others, in milliseconds.
    static let traceDelayMilliseconds: Int64 = 1_000
    /// The maximum size of the events that wait while PostgreSQL does not answer, in bytes; then the trace has a gap.
    static let traceBufferByteCountMax = 16 << 20
    /// The time between two deletions of old events, in milliseconds.
    static let traceTrimMilliseconds: Int64 = 30_000
    /// The time after the last heartbeat of a node for which the links to it are kept, in milliseconds.
    static let linkMilliseconds: Int64 = 60_000
    /// The time after which another node ends a move of slots whose node has stopped, in milliseconds.
    static let slotMoveMilliseconds: Int64 = 4_000
    /// The pause after a batch that PostgreSQL refused, in milliseconds.
    static let retryMilliseconds: Int64 = 200
    /// The time between two removals of queue entries that are no longer needed, in milliseconds.
    static let removalMilliseconds: Int64 = 1_000
    /// The maximum number of keys of device tokens; a node may have to try all of them to open a token.
    static let tokenKeyCountMax = 16
}
