// SPDX-License-Identifier: Apache-2.0

@testable import PushAPI
import TestSupport
import Testing

struct EventStreamTests {
    @Test func `a comment is one line that belongs to no event`() throws {
        var output: [UInt8] = []
        EventStream.appendComment(to: &output)
        #expect(output == bytes(": \n\n"))
        #expect(try events(in: output) == [.comment])
    }

    @Test(arguments: [
        ("", ""), ("{}", "{}"), ("a\nb", "a\nb"), ("a\r\nb", "a\nb"), ("a\rb", "a\nb"), ("\n", "\n"),
        ("\r\r\n\n", "\n\n\n"),
        ("a\n", "a\n"), (" a", " a"), (":a", ":a"), ("data: x\n\nevent: y", "data: x\n\nevent: y"),
    ])
    func `an event survives writing and reading, with line feeds for line ends`(data: String, read: String) throws {
        var output: [UInt8] = []
        EventStream.appendEvent(name: "policy", data: bytes(data).span, to: &output)
        #expect(try events(in: output) == [.event(name: "policy", id: "", data: bytes(read))])
    }

    private func events(in stream: [UInt8]) throws -> [EventStreamEvent] {
        var parser = EventStreamParser()
        var events: [EventStreamEvent] = []
        try parser.receive(stream.span) { events.append($0) }
        return events
    }
}
