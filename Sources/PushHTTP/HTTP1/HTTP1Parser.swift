// SPDX-License-Identifier: Apache-2.0

/// Parses consecutive HTTP/1.1 requests from pieces of any size.
///
///     requestLine ─▶ fieldLines ─┬─▶ body ─────────────────────────────────▶ requestLine
///                                └─▶ chunkSize ─┬─▶ trailers ──────────────▶ requestLine
///                                        ▲      └─▶ chunkData ─▶ chunkEnd ─┐
///                                        └─────────────────────────────────┘
///     any ─▶ failed
///
/// - SeeAlso: RFC 9112
final class HTTP1Parser {
    /// The next action for the caller.
    enum Event: Equatable {
        /// The input is used up; provide more.
        case needsMore
        /// `head` is complete; take it before the next call.
        case headEnded
        /// These bytes of the input belong to the body.
        case body(Range<Int>)
        /// The request is complete.
        case requestEnded
        /// The request is invalid; nothing more can be parsed.
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

    /// The head of the request that is being parsed.
    var head = HTTP1Head()

    private let limits: HTTPSessionLimits
    private var state = State.requestLine
    private var reader = HTTP1LineReader()
    private var emptyLineCount = 0
    private var trailers = HTTP1Head()

    init(limits: HTTPSessionLimits) {
        self.limits = limits
    }

    /// Whether no byte of a next request has been received.
    var isBetweenRequests: Bool {
        switch state {
        case .requestLine: reader.isEmpty
        case .fieldLines, .body, .chunkSize, .chunkData, .chunkEnd, .trailers, .failed: false
        }
    }

    /// The number of bytes held for the current line and fields.
    var heldByteCount: Int {
        reader.line.capacity + head.fields.heldByteCount + trailers.fields.heldByteCount
    }

    /// Parses until there is an event to report.
    ///
    /// - Parameters:
    ///   - bytes: The input.
    ///   - index: The position at which to continue; moved past the processed bytes.
    /// - Returns: The event; after a failure, always `failed`.
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

    /// Processes one line or one run of the body; returns nil to continue without an event.
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

    /// Returns whether a line is complete; it stays in `reader.line` until `reader.startLine`.
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

    /// Parses a field or the empty line; returns true for the empty line.
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

    /// Parses `1*HEXDIG` and skips the extensions, which are not used.
    private static func chunkSize(_ line: Span<UInt8>) throws(HTTP1Failure) -> Int {
        var (size, digitCount) = (0, 0)
        while digitCount < line.count, let digit = line[digitCount].hexadecimalValue {
            // Seven digits exceed any body that is kept, and cannot overflow.
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

    /// Checks and discards a trailer; returns true for the empty line, which ends the request.
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
