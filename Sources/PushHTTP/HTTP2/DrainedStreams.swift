// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// The streams that were answered while their request is still arriving: the rest of the request is discarded for a
/// while.
///
/// A client may see a reset directly behind an error answer and never read the answer. So a PING follows the answer,
/// and the reset follows when the PING was answered, when too many bytes have arrived, or at the deadline. No gentler
/// way works: curl 7.88 stops sending after such an answer, but does not always end its stream, and waits endlessly for
/// the end of ours. Drained streams have no exchange and keep no part of the request.
///
/// - SeeAlso: RFC 9113, section 8.1
struct DrainedStreams {
    private struct Stream {
        var id: Int32
        /// The number of the PING sent behind the answer.
        var pingNumber: UInt64
        /// The number of bytes that may still arrive.
        var byteCount: Int
        var deadline: MonotonicTime
    }

    private var streams: [Stream] = []

    init() {}

    /// Whether no stream is being drained.
    var isEmpty: Bool { streams.isEmpty }

    /// Begins to drain a stream; returns false if the maximum number of streams is being drained.
    mutating func begin(_ id: Int32, pingNumber: UInt64, now: MonotonicTime) -> Bool {
        guard streams.count < HTTPBounds.drainedStreamCountMax else { return false }
        streams.append(
            Stream(
                id: id, pingNumber: pingNumber, byteCount: HTTPBounds.drainedByteCountMax,
                deadline: now.advanced(byNanoseconds: HTTPBounds.drainTimeoutNanoseconds)))
        return true
    }

    /// Discards bytes; returns true if the stream has exceeded its share and was removed.
    mutating func take(_ id: Int32, byteCount: Int) -> Bool {
        guard let index = streams.firstIndex(where: { $0.id == id }) else { return false }
        guard byteCount > streams[index].byteCount else {
            streams[index].byteCount -= byteCount
            return false
        }
        streams.remove(at: index)
        return true
    }

    /// Ends the drain of a stream; returns false if the stream was not being drained.
    mutating func remove(_ id: Int32) -> Bool {
        guard let index = streams.firstIndex(where: { $0.id == id }) else { return false }
        streams.remove(at: index)
        return true
    }

    /// Ends the drain of the oldest stream if the PING behind its answer was answered, and returns the stream's
    /// identifier.
    mutating func removeAnswered(pingNumber: UInt64) -> Int32? {
        guard let oldest = streams.first, oldest.pingNumber <= pingNumber else { return nil }
        return streams.removeFirst().id
    }

    /// Ends the drain of the oldest stream if its deadline has passed, and returns the stream's identifier.
    mutating func removeExpired(now: MonotonicTime) -> Int32? {
        guard let oldest = streams.first, oldest.deadline <= now else { return nil }
        return streams.removeFirst().id
    }
}
