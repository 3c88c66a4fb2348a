// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// An item of an event stream.
package enum EventStreamEvent: Sendable, Equatable {
    /// An event with its name, its own ID and its data.
    ///
    /// The name is `message` when the server sent none. The ID is empty when the event has none. Line feeds separate
    /// the lines of the data.
    case event(name: String, id: String, data: [UInt8])
    /// A comment line, which the server sends as a heartbeat.
    case comment
}

/// The reason why an event stream cannot be parsed further: close the connection and open a new one.
package enum EventStreamError: Error, Equatable, Sendable {
    /// A line, or an event with all its lines, exceeds `Limits.streamEventByteCountMax` bytes.
    case eventTooLarge(byteCountMax: Int)
}

/// Parses server-sent events from a byte stream that arrives in arbitrary pieces.
///
/// ```
///              ┌────────── line feed, or any byte ─────────┐
///              ▼                                           │
///  ──▶ first ─────▶ line ──── carriage return ──▶ after carriage return
///        │   a line  │ ▲                                   │
///        │   ended   │ └──────── line feed, any byte ──────┘
///        └───────────┴──── too many bytes ──▶ failed (final)
/// ```
///
/// The first line may begin with a byte order mark. A line ends with a line feed, a carriage return or both; an empty
/// line ends an event. The parser ignores `retry` and unknown fields. An event without an `id` line has no ID here. The
/// standard would reuse the previous ID, and the device would then acknowledge the wrong notification.
///
/// - SeeAlso: HTML Living Standard, section 9.2.6, "Interpreting an event stream"
package struct EventStreamParser: ~Copyable {
    private enum State {
        /// Inside the first line.
        case firstLine
        /// Before or inside a later line.
        case line
        /// After a carriage return; a line feed at this point belongs to it.
        case afterCarriageReturn
        /// A line or an event was too long.
        case failed
    }

    /// The fields that the parser interprets.
    private enum Field {
        case data, name, id

        init?(_ name: Span<UInt8>) {
            if name.equals("data") {
                self = .data
            } else if name.equals("event") {
                self = .name
            } else if name.equals("id") {
                self = .id
            } else {
                return nil
            }
        }
    }

    private var state = State.firstLine
    /// The bytes of the unfinished line.
    private var line: [UInt8] = []
    private var name: [UInt8] = []
    private var data: [UInt8] = []
    private var hasData = false
    private var id: [UInt8] = []

    /// Creates a parser for the start of a stream.
    package init() {}

    /// Parses the next bytes and passes the completed events on, in order.
    ///
    /// - Parameters:
    ///   - bytes: The received bytes, of any length.
    ///   - body: The closure that receives each event and comment.
    /// - Throws: `EventStreamError`, now and in every later call; the stream cannot be used further.
    package mutating func receive(
        _ bytes: Span<UInt8>, _ body: (EventStreamEvent) -> Void
    ) throws(EventStreamError) {
        var start = 0
        if case .failed = state { throw .eventTooLarge(byteCountMax: Limits.streamEventByteCountMax) }
        for offset in bytes.indices {
            let byte = bytes[offset]
            let isSecondOfLineEnd = isAfterCarriageReturn && byte == UInt8(ascii: "\n")
            if case .afterCarriageReturn = state { state = .line }
            guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else { continue }
            if !isSecondOfLineEnd {
                try takeText(bytes.extracting(start..<offset))
                endLine(body)
                state = byte == UInt8(ascii: "\r") ? .afterCarriageReturn : .line
            }
            start = offset + 1
        }
        try takeText(bytes.extracting(start..<bytes.count))
    }

    private var isAfterCarriageReturn: Bool {
        switch state {
        case .afterCarriageReturn: true
        case .firstLine, .line, .failed: false
        }
    }

    /// Appends bytes to the line, within the size limit.
    private mutating func takeText(_ bytes: Span<UInt8>) throws(EventStreamError) {
        guard line.count + data.count + bytes.count <= Limits.streamEventByteCountMax else {
            state = .failed
            throw .eventTooLarge(byteCountMax: Limits.streamEventByteCountMax)
        }
        line.append(bytes)
    }

    /// Interprets the completed line.
    private mutating func endLine(_ body: (EventStreamEvent) -> Void) {
        defer { line.removeAll(keepingCapacity: true) }
        if case .firstLine = state, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        guard let first = line.first else { return dispatch(body) }
        guard first != UInt8(ascii: ":") else { return body(.comment) }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.count
        var value = line[min(colon + 1, line.count)...]
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        switch Field(line.span.extracting(0..<colon)) {
        case .data:
            data.append(contentsOf: value)
            data.append(UInt8(ascii: "\n"))
            hasData = true
        case .name:
            name = Array(value)
        case .id:
            if !value.contains(0) { id = Array(value) }
        case nil:
            return
        }
    }

    /// Passes on the event that an empty line completed, if it has data, and resets the parser for the next event.
    private mutating func dispatch(_ body: (EventStreamEvent) -> Void) {
        defer {
            name.removeAll(keepingCapacity: true)
            id.removeAll(keepingCapacity: true)
            data.removeAll()
            hasData = false
        }
        guard hasData else { return }
        data.removeLast()
        let text = name.isEmpty ? "message" : String(decoding: name, as: UTF8.self)
        body(.event(name: text, id: String(decoding: id, as: UTF8.self), data: data))
    }
}
