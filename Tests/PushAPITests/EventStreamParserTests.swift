// SPDX-License-Identifier: Apache-2.0

@testable import PushAPI
import PushCore
import TestSupport
import Testing

struct EventStreamParserTests {
    /// A stream and the events that it contains.
    struct Example: Sendable, CustomTestStringConvertible {
        var stream: String
        var events: [EventStreamEvent]
        var testDescription: String { String(reflecting: stream) }

        init(_ stream: String, _ events: [EventStreamEvent]) {
            self.stream = stream
            self.events = events
        }
    }

    private static func event(_ data: String, name: String = "message", id: String = "") -> EventStreamEvent {
        .event(name: name, id: id, data: bytes(data))
    }

    static let examples = [
        Example("", []), Example("\n\n\n", []), Example("data: a", []), Example("data: a\n", []),
        Example("data: a\n\n", [event("a")]), Example("data:a\n\n", [event("a")]),
        Example("data:  a\n\n", [event(" a")]),
        Example("data\n\n", [event("")]), Example("data:\n\n", [event("")]), Example("data\ndata\n\n", [event("\n")]),
        Example("data: a\ndata: b\n\n", [event("a\nb")]), Example("data: a\n\ndata: b\n\n", [event("a"), event("b")]),
        Example("data: a\r\rdata: b\r\r", [event("a"), event("b")]),
        Example("data: a\r\n\r\ndata: b\r\n\r\n", [event("a"), event("b")]),
        Example("data: a\r\ndata: b\rdata: c\n\r\n", [event("a\nb\nc")]),
        Example("data: a\n\r\ndata: b\r\n\n", [event("a"), event("b")]),
        Example("event: x\ndata: a\n\ndata: b\n\n", [event("a", name: "x"), event("b")]),
        Example("event: x\nevent: y\ndata: a\n\n", [event("a", name: "y")]),
        Example("event: x\n\ndata: a\n\n", [event("a")]),
        Example(
            "id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", [event("a", id: "1"), event("b"), event("c")]),
        Example("id: 1\n\ndata: a\n\n", [event("a")]),
        Example("id: 1\nid: 2\0\ndata: a\n\n", [event("a", id: "1")]),
        Example(":\n\n", [.comment]), Example(": \n\n: \n\n", [.comment, .comment]), Example(":data: a\n", [.comment]),
        Example("data: a\n: x\ndata: b\n\n", [.comment, event("a\nb")]),
        Example("retry: 10\nfoo: bar\ndatax: a\n\n", []),
        Example("Data: a\n DATA: b\ndata : c\n\n", []), Example("\u{FEFF}data: a\n\n", [event("a")]),
        Example("\u{FEFF}\ndata: a\n\n", [event("a")]), Example("data: a\n\u{FEFF}data: b\n\n", [event("a")]),
        Example("\u{FEFF}\u{FEFF}data: a\n\n", []), Example("data: a: b\n\n", [event("a: b")]),
        Example("data: \n\n", [event("")]),
        Example("event: grüße\ndata: 😀\u{2028}\n\n", [event("😀\u{2028}", name: "grüße")]),
        Example(
            "event: notification\nid: 42\ndata: {\"id\":42}\n\n", [event("{\"id\":42}", name: "notification", id: "42")]
        ),
    ]

    @Test(arguments: examples)
    func `a stream gives its events and comments in order`(example: Example) throws {
        #expect(try events(of: [bytes(example.stream)]) == example.events)
    }

    @Test(arguments: examples)
    func `a stream gives the same events wherever it is split in two`(example: Example) throws {
        let stream = bytes(example.stream)
        for place in 0...stream.count {
            #expect(try events(of: [Array(stream[..<place]), Array(stream[place...])]) == example.events)
        }
    }

    @Test(arguments: examples)
    func `a stream gives the same events byte by byte, with empty pieces between`(example: Example) throws {
        #expect(try events(of: bytes(example.stream).flatMap { [[$0], []] }) == example.events)
    }

    @Test(arguments: seeds)
    func `random bytes give the same events in any pieces`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let words = ["data", "event", "id", ":", ": ", "\n", "\r", "\r\n", "x", "\u{FEFF}", "\0", "\n\n"]
        let stream = (0..<60).flatMap { _ in bytes(words.randomElement(using: &generator) ?? "") }
        var pieces: [[UInt8]] = []
        var rest = stream[...]
        while !rest.isEmpty {
            let count = Int.random(in: 0...5, using: &generator)
            pieces.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        #expect(try events(of: pieces) == events(of: [stream]))
    }

    @Test(arguments: [1, 1000, 70_000])
    func `an event as large as the limit is accepted, and a larger one is refused`(pieceByteCount: Int) throws {
        let limit = Limits.streamEventByteCountMax
        let start = bytes("data:")
        let data = [UInt8](repeating: UInt8(ascii: "x"), count: limit - start.count)
        #expect(try events(of: pieces(start + data + bytes("\n\n"), pieceByteCount)).count == 1)
        #expect(throws: EventStreamError.eventTooLarge(byteCountMax: limit)) {
            try events(of: pieces(start + data + bytes("x\n\n"), pieceByteCount))
        }
    }

    @Test func `many short lines of one event share the limit`() {
        let line = bytes("data:\n")
        #expect(throws: EventStreamError.self) {
            try events(of: [Array(repeatElement(line, count: Limits.streamEventByteCountMax + 1).joined())])
        }
    }

    @Test func `an endless comment is refused`() {
        let comment = [UInt8(ascii: ":")] + [UInt8](repeating: UInt8(ascii: "x"), count: Limits.streamEventByteCountMax)
        #expect(throws: EventStreamError.self) { try events(of: [comment]) }
    }

    @Test func `consecutive events do not share the limit`() throws {
        let stream = Array(repeatElement(bytes("data: a\n\n: \n\n"), count: 20_000).joined())
        #expect(try events(of: [stream]).count == 40_000)
    }

    @Test func `a stream that exceeded the limit stays refused`() throws {
        var parser = EventStreamParser()
        let tooMuch = [UInt8](repeating: UInt8(ascii: "x"), count: Limits.streamEventByteCountMax + 1)
        for text in [tooMuch, bytes("\n\ndata: a\n\n"), []] {
            var failure: EventStreamError?
            do throws(EventStreamError) {
                try parser.receive(text.span) { _ in Issue.record("An event came out of a stream that is lost.") }
            } catch {
                failure = error
            }
            #expect(failure == .eventTooLarge(byteCountMax: Limits.streamEventByteCountMax))
        }
    }

    private func pieces(_ stream: [UInt8], _ byteCount: Int) -> [[UInt8]] {
        stride(from: 0, to: stream.count, by: byteCount).map { Array(stream[$0..<min($0 + byteCount, stream.count)]) }
    }

    private func events(of pieces: [[UInt8]]) throws -> [EventStreamEvent] {
        var parser = EventStreamParser()
        var events: [EventStreamEvent] = []
        for piece in pieces {
            try parser.receive(piece.span) { events.append($0) }
        }
        return events
    }
}
