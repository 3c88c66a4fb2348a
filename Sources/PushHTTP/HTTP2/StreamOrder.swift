// SPDX-License-Identifier: Apache-2.0

/// Checks the order of frames on closed streams, which nghttp2 is configured to forget.
///
/// A frame on a closed stream is legal if it crossed our reset or our early answer, and an error if the peer had ended
/// the stream before it. So only the peer's own frames are recorded: the last streams that it ended or reset, and the
/// stream IDs that it skipped and may no longer use.
///
/// - SeeAlso: RFC 9113, sections 5.1 and 5.1.1
struct StreamOrder {
    /// A violation by the peer that ends the connection.
    enum Violation {
        /// DATA or HEADERS after END_STREAM or RST_STREAM of the same stream: STREAM_CLOSED.
        case streamClosed
        /// An unused stream ID that is lower than an earlier one: PROTOCOL_ERROR.
        case idTooLow
    }

    /// The number of recorded streams, a power of two; a newly ended stream evicts the one with the same slot.
    private static let endedCountMax = 16
    /// The number of recorded gaps; older ones are forgotten.
    private static let skippedCountMax = 8

    /// The ended stream IDs, each at `id / 2` modulo `endedCountMax`, so that a lookup takes constant time.
    private var ended = InlineArray<16, Int32>(repeating: -1)
    private var highestID: Int32 = -1
    /// The IDs that the peer skipped; clients number their streams without gaps, so this is usually empty.
    private var skipped: [ClosedRange<Int32>] = []

    init() {}

    /// Processes a HEADERS or DATA frame.
    ///
    /// - Parameters:
    ///   - id: The stream's identifier.
    ///   - isHeaders: Whether the frame is HEADERS, which may open a stream.
    ///   - endsStream: Whether the frame has END_STREAM.
    /// - Returns: The peer's violation, if any.
    mutating func take(_ id: Int32, isHeaders: Bool, endsStream: Bool) -> Violation? {
        let slot = Self.slot(of: id)
        if ended[slot] == id { return .streamClosed }
        if isHeaders {
            if id > highestID {
                // The first stream creates no gap: 1 follows -1.
                if Int(id) > Int(highestID) + 2 { skip((highestID + 2)...(id - 1)) }
                highestID = id
            } else if skipped.contains(where: { $0.contains(id) }) {
                return .idTooLow
            }
        }
        if endsStream { ended[slot] = id }
        return nil
    }

    /// Processes an RST_STREAM frame.
    mutating func takeReset(_ id: Int32) { ended[Self.slot(of: id)] = id }

    private static func slot(of id: Int32) -> Int { (Int(id) >> 1) & (endedCountMax - 1) }

    private mutating func skip(_ ids: ClosedRange<Int32>) {
        if skipped.count == Self.skippedCountMax { skipped.removeFirst() }
        skipped.append(ids)
    }
}
