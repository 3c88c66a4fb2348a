// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The rows of a trace that searches read.
protocol TraceSource: AnyObject {
    /// Returns the time of the oldest event.
    func oldestAt() throws(SQLError) -> Timestamp?

    /// Calls a closure for each row in order, from the row that contains a position, until the closure returns false.
    func forEachRow(from position: Int64, _ take: (TraceTable.Row) -> Bool) throws(SQLError)

    /// Calls a closure for the events of each row that may contain the first event of a notification, until the closure
    /// returns false.
    func forEachRow(acceptedWith sequence: Int64, _ take: ([UInt8]) -> Bool) throws(SQLError)
}

/// The rows of a trace from its start, which its retention deletes.
protocol TrimmedTrace: AnyObject {
    /// Calls a closure for the oldest rows, until it returns false.
    ///
    /// - Parameters:
    ///   - countMax: The maximum number of rows.
    ///   - take: Receives the position, the time of the last event, and the size in bytes.
    /// - Throws: The error that the engine returned.
    func forEachOldest(
        countMax: Int, _ take: (_ position: Int64, _ lastEventAt: Timestamp, _ byteCount: Int64) -> Bool
    ) throws(SQLError)
}

extension TrimmedTrace {
    /// Returns the position of the first row to keep, the number of rows before it, and whether another step is needed.
    ///
    /// - Parameters:
    ///   - moment: The time before which a row's last event must be to delete the row.
    ///   - byteCountMax: The maximum size of the trace.
    ///   - end: The end of the stream.
    /// - Returns: A bounded number of the oldest rows, by the position after them.
    /// - Throws: The error that the engine returned.
    func oldestToKeep(
        olderThan moment: Timestamp, byteCountMax: Int64, end: Int64
    ) throws(SQLError) -> (position: Int64, rowCount: Int, isMore: Bool) {
        let rowCountMax = WriterLimits.traceRowsTrimmedPerStepCountMax
        var (rowCount, byteCount) = (0, Int64(0))
        var cut: (position: Int64, isMore: Bool)?
        try forEachOldest(countMax: rowCountMax + 1) { position, lastEventAt, size in
            guard lastEventAt < moment || end - position > byteCountMax else {
                cut = (position, false)
                return false
            }
            guard rowCount < rowCountMax, byteCount < WriterLimits.traceBytesTrimmedPerStepMax else {
                cut = (position, true)
                return false
            }
            rowCount += 1
            byteCount += size
            return true
        }
        return (cut?.position ?? end, rowCount, cut?.isMore ?? false)
    }
}
