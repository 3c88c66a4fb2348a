// SPDX-License-Identifier: Apache-2.0

/// Gathers one line of a request at a time; only CR LF ends a line, and neither stands inside one.
///
/// - SeeAlso: RFC 9112, section 2.2
struct HTTP1LineReader {
    /// What came of some input.
    enum Outcome {
        /// All input is taken and the line has not ended.
        case incomplete
        /// `line` is whole, without its end.
        case complete
        /// A CR or LF stood alone.
        case malformed
        /// The line is longer than it may be.
        case tooLong
    }

    /// The bytes of the line so far.
    private(set) var line: [UInt8] = []
    private var endsWithCarriageReturn = false

    /// Nothing of a line has come.
    var isEmpty: Bool { line.isEmpty && !endsWithCarriageReturn }

    init() {}

    /// Takes bytes until the line ends.
    ///
    /// - Parameters:
    ///   - bytes: The input.
    ///   - index: Where to go on in it; moved behind what was taken.
    ///   - byteCountMax: The longest line, without its end.
    /// - Returns: What came of it.
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

    /// Gives the line away; `startLine` takes its memory back.
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
