// SPDX-License-Identifier: Apache-2.0

/// The bounds of a node's own work.
enum ClusterLimits {
    /// The maximum number of rows that one batch writes; more wait for the next batch.
    static let rowsPerBatchCountMax = 500
    /// The size of payloads, in bytes, from which a batch takes no further row.
    static let batchByteCountMax = 2 << 20
    /// The maximum number of streams that one batch registers or reads for.
    static let streamsPerBatchCountMax = 500
    /// The number of rows that one reading returns for a device, besides those in the window of its stream.
    static let rowsPerReadingCountMax = 64
    /// The maximum number of requests that wait for one worker; more are refused.
    static let jobCountMax = 4096
    /// The maximum time in milliseconds that a stopping node has to write what it was asked to.
    static let stopMilliseconds = 1_000
    /// The time after the last heartbeat of a node for which the links to it are kept, in milliseconds.
    static let linkMilliseconds: Int64 = 60_000
    /// The pause after a batch that PostgreSQL refused, in milliseconds.
    static let retryMilliseconds: Int64 = 200
}
