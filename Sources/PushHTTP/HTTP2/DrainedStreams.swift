// SPDX-License-Identifier: Apache-2.0

/// Streams whose answer is out while their request still comes in: what comes is thrown away, for a while.
///
/// A client may take a reset right behind an answer for a failure and never look at the answer. So a PING follows the
/// answer, and the reset comes when the PING was answered, the bytes are too many or the time is over. Nothing gentler does:
/// curl 7.88 sends no more after such an answer, but not always the end of its stream, and waits for ours for ever. Such
/// streams have no exchange and keep nothing of the request.
///
/// - SeeAlso: RFC 9113, section 8.1
struct DrainedStreams {
    private struct Stream {
        var id: Int32
        /// Of the PING behind its answer.
        var pingNumber: UInt64
        /// How much more may come.
        var byteCount: Int
        var deadlineNanoseconds: UInt64
    }

    private var streams: [Stream] = []

    init() {}

    /// None is drained.
    var isEmpty: Bool { streams.isEmpty }

    /// Begins to drain a stream; false when there are as many as there may be.
    mutating func begin(_ id: Int32, pingNumber: UInt64, nowNanoseconds: UInt64) -> Bool {
        guard streams.count < HTTPBounds.drainedStreamCountMax else { return false }
        let deadline = nowNanoseconds.addingReportingOverflow(HTTPBounds.drainPatienceNanoseconds)
        streams.append(
            Stream(
                id: id, pingNumber: pingNumber, byteCount: HTTPBounds.drainedByteCountMax,
                deadlineNanoseconds: deadline.overflow ? .max : deadline.partialValue))
        return true
    }

    /// Throws bytes away; true when the stream has had its share, and is no longer among these.
    mutating func take(_ id: Int32, byteCount: Int) -> Bool {
        guard let index = streams.firstIndex(where: { $0.id == id }) else { return false }
        guard byteCount > streams[index].byteCount else {
            streams[index].byteCount -= byteCount
            return false
        }
        streams.remove(at: index)
        return true
    }

    /// Ends the drain of a stream; false when there is none.
    mutating func remove(_ id: Int32) -> Bool {
        guard let index = streams.firstIndex(where: { $0.id == id }) else { return false }
        streams.remove(at: index)
        return true
    }

    /// Ends the drain of the oldest stream if the PING behind its answer was answered.
    mutating func removeAnswered(pingNumber: UInt64) -> Int32? {
        guard let oldest = streams.first, oldest.pingNumber <= pingNumber else { return nil }
        return streams.removeFirst().id
    }

    /// Ends the drain of the oldest stream if its time is over.
    mutating func removeExpired(nowNanoseconds: UInt64) -> Int32? {
        guard let oldest = streams.first, oldest.deadlineNanoseconds <= nowNanoseconds else { return nil }
        return streams.removeFirst().id
    }
}
