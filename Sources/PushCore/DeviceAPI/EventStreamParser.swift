// SPDX-License-Identifier: Apache-2.0

/// Something that came on an event stream.
package enum EventStreamEvent: Sendable, Equatable {
    /// An event: its name (`message` when the server gave none), the id of its own, empty for none, and its data lines
    /// with line feeds between.
    case event(name: String, id: String, data: [UInt8])
    /// A comment line: the server's heartbeat.
    case comment
}

/// Why an event stream cannot be read on: close the connection and open a new one.
package enum EventStreamError: Error, Equatable, Sendable {
    /// A line, or an event with all its lines, has more bytes than `Limits.streamEventByteCountMax`.
    case eventTooLarge(byteCountMax: Int)
}

/// Takes server-sent events out of a stream of bytes, however it is cut into pieces.
///
/// ```
///              ┌────────── line feed, or any byte ─────────┐
///              ▼                                           │
///  ──▶ first ─────▶ line ──── carriage return ──▶ after carriage return
///        │   a line  │ ▲                                   │
///        │   ended   │ └──────── line feed, any byte ──────┘
///        └───────────┴──── too many bytes ──▶ failed, for ever
/// ```
///
/// The first line may begin with a byte order mark. A line ends with a line feed, a carriage return or both; an empty
/// line ends an event. `retry` and unknown fields are ignored. An event without an `id` line has no id: the standard
/// gives it the one before, by which we would acknowledge what it does not name.
///
/// - SeeAlso: HTML Living Standard, section 9.2.6, "Interpreting an event stream"
package struct EventStreamParser: ~Copyable {
    private enum State {
        /// In the first line.
        case firstLine
        /// In a later line, or before one.
        case line
        /// Behind a carriage return: a line feed here belongs to it.
        case afterCarriageReturn
        /// Too much came.
        case failed
    }

    /// The fields that are looked at.
    private enum Field {
        case data, name, id

        init?(_ name: Span<UInt8>) {
            if name.isEqual(to: "data") {
                self = .data
            } else if name.isEqual(to: "event") {
                self = .name
            } else if name.isEqual(to: "id") {
                self = .id
            } else {
                return nil
            }
        }
    }

    private var state = State.firstLine
    /// The bytes of a line that has not ended.
    private var line: [UInt8] = []
    private var name: [UInt8] = []
    private var data: [UInt8] = []
    private var hasData = false
    private var id: [UInt8] = []

    /// Begins before the first byte.
    package init() {}

    /// Takes the next bytes and hands on what they complete, in order.
    ///
    /// - Parameters:
    ///   - bytes: What came, of any length.
    ///   - body: Gets each event and comment.
    /// - Throws: `EventStreamError`, now and at every later call: the stream is lost.
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

    /// Adds bytes to the line, if they are not too many.
    private mutating func takeText(_ bytes: Span<UInt8>) throws(EventStreamError) {
        guard line.count + data.count + bytes.count <= Limits.streamEventByteCountMax else {
            state = .failed
            throw .eventTooLarge(byteCountMax: Limits.streamEventByteCountMax)
        }
        line.append(bytes)
    }

    /// Interprets the line that has ended.
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

    /// Hands on the event that an empty line has ended, if it has data, and begins the next.
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
