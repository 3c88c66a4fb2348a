// SPDX-License-Identifier: Apache-2.0

/// Collects one line of a request at a time; only CR LF ends a line, and neither byte may occur inside one.
///
/// - SeeAlso: RFC 9112, section 2.2
struct HTTP1LineReader {
    /// The result of processing some input.
    enum Outcome {
        /// The input is used up and the line has not ended.
        case incomplete
        /// `line` is complete, without its CR LF.
        case complete
        /// A CR or LF occurred alone.
        case malformed
        /// The line is longer than the limit.
        case tooLong
    }

    /// The bytes of the line so far.
    private(set) var line: [UInt8] = []
    private var endsWithCarriageReturn = false

    /// Whether no byte of a line has been received.
    var isEmpty: Bool { line.isEmpty && !endsWithCarriageReturn }

    init() {}

    /// Processes bytes until the line ends.
    ///
    /// - Parameters:
    ///   - bytes: The input.
    ///   - index: The position at which to continue; moved past the processed bytes.
    ///   - byteCountMax: The longest line in bytes, without its CR LF.
    /// - Returns: The result of processing.
    mutating func take(_ bytes: Span<UInt8>, _ index: inout Int, byteCountMax: Int) -> Outcome {
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if endsWithCarriageReturn {
                endsWithCarriageReturn = false
                return byte == UInt8(ascii: "\n") ? .complete : .malformed
            }
            switch byte {
            case UInt8(ascii: "\r"): endsWithCarriageReturn = true
            case UInt8(ascii: "\n"): return .malformed
            default:
                guard line.count < byteCountMax else { return .tooLong }
                line.append(byte)
            }
        }
        return .incomplete
    }

    /// Moves the line out; pass it to `startLine` to reuse its memory.
    mutating func takeLine() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &line)
        return taken
    }

    /// Starts an empty line in the memory of one that was read.
    mutating func startLine(in memory: consuming [UInt8]) {
        memory.removeAll(keepingCapacity: true)
        line = memory
    }
}
