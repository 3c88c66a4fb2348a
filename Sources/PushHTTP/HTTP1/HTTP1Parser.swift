// SPDX-License-Identifier: Apache-2.0

/// Reads HTTP/1.1 requests, one after the other, from pieces of any size.
///
///     requestLine ─▶ fieldLines ─┬─▶ body ─────────────────────────────────▶ requestLine
///                                └─▶ chunkSize ─┬─▶ trailers ──────────────▶ requestLine
///                                        ▲      └─▶ chunkData ─▶ chunkEnd ─┐
///                                        └─────────────────────────────────┘
///     any ─▶ failed
///
/// - SeeAlso: RFC 9112
final class HTTP1Parser {
    /// What the caller is to do.
    enum Event: Equatable {
        /// All input is taken.
        case needsMore
        /// `head` is complete; take it before the next call.
        case headEnded
        /// These bytes of the input belong to the body.
        case body(Range<Int>)
        /// The request is complete.
        case requestEnded
        /// Nothing more can be read.
        case failed(HTTP1Failure)
    }

    private enum State {
        case requestLine
        case fieldLines
        case body(remainingByteCount: Int)
        case chunkSize
        case chunkData(remainingByteCount: Int)
        case chunkEnd
        case trailers
        case failed(HTTP1Failure)
    }

    /// The request whose body is being read.
    var head = HTTP1Head()

    private let limits: HTTPSessionLimits
    private var state = State.requestLine
    private var reader = HTTP1LineReader()
    private var emptyLineCount = 0
    private var trailers = HTTP1Head()

    init(limits: HTTPSessionLimits) {
        self.limits = limits
    }

    /// Nothing of a next request has come.
    var isBetweenRequests: Bool {
        switch state {
        case .requestLine: reader.isEmpty
        case .fieldLines, .body, .chunkSize, .chunkData, .chunkEnd, .trailers, .failed: false
        }
    }

    /// Bytes of the line and the fields that are being read.
    var heldByteCount: Int {
        reader.line.capacity + head.fields.heldByteCount + trailers.fields.heldByteCount
    }

    /// Reads until something happened.
    ///
    /// - Parameters:
    ///   - bytes: The input.
    ///   - index: Where to go on in it; moved behind what was taken.
    /// - Returns: What happened; `failed` for ever after a failure.
    func next(_ bytes: Span<UInt8>, _ index: inout Int) -> Event {
        do throws(HTTP1Failure) {
            while true {
                if let event = try step(bytes, &index) { return event }
            }
        } catch {
            state = .failed(error)
            return .failed(error)
        }
    }

    /// Takes one line or one run of the body; nil when there is more to do without telling.
    private func step(_ bytes: Span<UInt8>, _ index: inout Int) throws(HTTP1Failure) -> Event? {
        switch state {
        case .requestLine:
            guard try readLine(bytes, &index, limits.headerListByteCountMax, .targetTooLong) else { return .needsMore }
            try endRequestLine()
            return nil
        case .fieldLines:
            guard try readLine(bytes, &index, limits.headerListByteCountMax, .headTooLarge) else { return .needsMore }
            return try endFieldLine() ? .headEnded : nil
        case .body(let remaining):
            return takeBody(bytes, &index, remaining)
        case .chunkSize:
            let byteCountMax = HTTPBounds.chunkLineByteCountMax
            guard try readLine(bytes, &index, byteCountMax, .malformed("chunk size")) else { return .needsMore }
            try endChunkSize()
            return nil
        case .chunkData(let remaining):
            return takeChunk(bytes, &index, remaining)
        case .chunkEnd:
            guard try readLine(bytes, &index, 0, .malformed("chunk end")) else { return .needsMore }
            state = .chunkSize
            return nil
        case .trailers:
            guard try readLine(bytes, &index, limits.headerListByteCountMax, .headTooLarge) else { return .needsMore }
            return try endTrailerLine() ? .requestEnded : nil
        case .failed(let failure): throw failure
        }
    }

    /// Whether a line is whole; it is in `reader.line` until `reader.startLine`.
    private func readLine(
        _ bytes: Span<UInt8>, _ index: inout Int, _ byteCountMax: Int, _ tooLong: HTTP1Failure
    ) throws(HTTP1Failure) -> Bool {
        switch reader.take(bytes, &index, byteCountMax: byteCountMax) {
        case .incomplete: return false
        case .complete: return true
        case .malformed: throw .malformed("end of line")
        case .tooLong: throw tooLong
        }
    }

    private func endRequestLine() throws(HTTP1Failure) {
        if reader.line.isEmpty {
            emptyLineCount += 1
            guard emptyLineCount <= HTTPBounds.leadingEmptyLineCountMax else { throw .malformed("request line") }
            return
        }
        emptyLineCount = 0
        head.removeAll()
        let line = reader.takeLine()
        try head.takeRequestLine(line.span)
        reader.startLine(in: line)
        state = .fieldLines
    }

    /// Reads a field or the empty line; whether it was that.
    private func endFieldLine() throws(HTTP1Failure) -> Bool {
        guard reader.line.isEmpty else {
            let line = reader.takeLine()
            try head.takeField(line.span, limits: limits)
            reader.startLine(in: line)
            return false
        }
        try head.finish()
        switch head.framing {
        case .length(let byteCount): state = .body(remainingByteCount: byteCount)
        case .chunked: state = .chunkSize
        }
        return true
    }

    private func takeBody(_ bytes: Span<UInt8>, _ index: inout Int, _ remaining: Int) -> Event {
        if remaining == 0 {
            state = .requestLine
            return .requestEnded
        }
        let range = index..<index + min(remaining, bytes.count - index)
        guard !range.isEmpty else { return .needsMore }
        index = range.upperBound
        state = .body(remainingByteCount: remaining - range.count)
        return .body(range)
    }

    private func endChunkSize() throws(HTTP1Failure) {
        let line = reader.takeLine()
        let size = try Self.chunkSize(line.span)
        reader.startLine(in: line)
        if size > 0 {
            state = .chunkData(remainingByteCount: size)
        } else {
            trailers.removeAll()
            state = .trailers
        }
    }

    /// Reads `1*HEXDIG` and passes over the extensions, which are for nobody.
    private static func chunkSize(_ line: Span<UInt8>) throws(HTTP1Failure) -> Int {
        var (size, digitCount) = (0, 0)
        while digitCount < line.count, let digit = line[digitCount].hexadecimalValue {
            // Seven digits hold more than any body that is kept, and never overflow.
            guard digitCount < 7 else { throw .malformed("chunk size") }
            size = size << 4 | digit
            digitCount += 1
        }
        let extensions = line.extracting(line.trimmingBlanks(digitCount..<line.count))
        guard digitCount > 0, digitCount == line.count || extensions.starts(with: ";"), extensions.isFieldValue else {
            throw .malformed("chunk size")
        }
        return size
    }

    private func takeChunk(_ bytes: Span<UInt8>, _ index: inout Int, _ remaining: Int) -> Event {
        let range = index..<index + min(remaining, bytes.count - index)
        guard !range.isEmpty else { return .needsMore }
        index = range.upperBound
        state = range.count == remaining ? .chunkEnd : .chunkData(remainingByteCount: remaining - range.count)
        return .body(range)
    }

    /// Checks a trailer and forgets it, or ends the request; whether it was that.
    private func endTrailerLine() throws(HTTP1Failure) -> Bool {
        if reader.line.isEmpty {
            state = .requestLine
            return true
        }
        let line = reader.takeLine()
        try trailers.takeTrailer(line.span, limits: limits)
        reader.startLine(in: line)
        return false
    }
}
