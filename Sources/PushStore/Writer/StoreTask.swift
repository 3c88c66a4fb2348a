// SPDX-License-Identifier: Apache-2.0

internal import PushSQLite

/// A request or a broadcast that the writer executes in a transaction.
final class StoreTask {
    let command: StoreCommand
    /// The remaining long work; nil until a transaction with its first step is committed.
    var progress: (any LongWork)?

    init(_ command: StoreCommand) { self.command = command }
}

/// Work that may not fit into one slice: a long list, or the removal of many rows.
protocol LongWork: AnyObject {
    /// Executes the next step, inside a transaction.
    ///
    /// - Parameter executor: Provides the tables, and takes the answer as an event when the work is complete.
    /// - Returns: Whether the work is complete.
    /// - Throws: The error that SQLite returned.
    func step(_ executor: Executor) throws(SQLiteError) -> Bool

    /// Starts over, because a transaction with a part of the work was rolled back.
    func restart()
}

/// The time that requests may take in one turn of the writer.
struct RequestSlice {
    /// Returns the monotonic time in nanoseconds; nil for a slice without an end.
    private let clock: (@Sendable () -> Int64)?
    private var end = Int64.max
    /// Whether other principals wait for the rest of the slice; long work then executes one step only.
    var isShared = false

    /// Creates slices of `WriterLimits.requestSliceMilliseconds`.
    ///
    /// - Parameter clock: Returns the monotonic time in nanoseconds; nil for slices without an end.
    init(clock: (@Sendable () -> Int64)? = nil) { self.clock = clock }

    /// Starts a slice now.
    mutating func begin() {
        guard let clock else { return }
        end = clock() + WriterLimits.requestSliceMilliseconds * 1_000_000
    }

    /// Whether the time is used up.
    var isOver: Bool {
        guard let clock else { return false }
        return clock() >= end
    }
}
