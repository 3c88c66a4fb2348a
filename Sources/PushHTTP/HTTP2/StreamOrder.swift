// SPDX-License-Identifier: Apache-2.0

/// Checks the order of frames on streams that nghttp2 has forgotten: it is told to keep no closed streams.
///
/// A frame on a closed stream is legal when it crossed a reset or an early answer of ours, and an error when the peer had
/// ended the stream before it. So only the peer's own frames are remembered: the last streams that it ended or reset, and
/// the stream ids that it passed over, which it may not use any more.
///
/// - SeeAlso: RFC 9113, sections 5.1 and 5.1.1
struct StreamOrder {
    /// A violation by the peer that ends the connection.
    enum Violation {
        /// DATA or HEADERS behind END_STREAM or RST_STREAM of the same stream: STREAM_CLOSED.
        case streamClosed
        /// A stream id that is lower than an earlier one and was never used: PROTOCOL_ERROR.
        case idTooLow
    }

    /// A power of two; each stream that the peer ended pushes out the one that has as many newer ones behind it.
    private static let endedCountMax = 16
    /// Older gaps are forgotten.
    private static let skippedCountMax = 8

    /// Stream ids at `id / 2` modulo `endedCountMax`, which finds one in constant time.
    private var ended = InlineArray<16, Int32>(repeating: -1)
    private var highestID: Int32 = -1
    /// Ids that the peer passed over; clients number their streams without gaps, so there are none as a rule.
    private var skipped: [ClosedRange<Int32>] = []

    init() {}

    /// Takes HEADERS or DATA.
    ///
    /// - Parameters:
    ///   - id: The stream's.
    ///   - isHeaders: Whether it is HEADERS, which may open a stream.
    ///   - endsStream: The frame has END_STREAM.
    /// - Returns: What the peer did wrong.
    mutating func take(_ id: Int32, isHeaders: Bool, endsStream: Bool) -> Violation? {
        let slot = Self.slot(of: id)
        if ended[slot] == id { return .streamClosed }
        if isHeaders {
            if id > highestID {
                // Not for the first stream: 1 follows -1.
                if Int(id) > Int(highestID) + 2 { skip((highestID + 2)...(id - 1)) }
                highestID = id
            } else if skipped.contains(where: { $0.contains(id) }) {
                return .idTooLow
            }
        }
        if endsStream { ended[slot] = id }
        return nil
    }

    /// Takes RST_STREAM.
    mutating func takeReset(_ id: Int32) { ended[Self.slot(of: id)] = id }

    private static func slot(of id: Int32) -> Int { (Int(id) >> 1) & (endedCountMax - 1) }

    private mutating func skip(_ ids: ClosedRange<Int32>) {
        if skipped.count == Self.skippedCountMax { skipped.removeFirst() }
        skipped.append(ids)
    }
}
