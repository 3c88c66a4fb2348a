// SPDX-License-Identifier: Apache-2.0

import PushNet
import Testing

@testable import PushWebSocket

/// One end of a connection, with everything that it received.
private final class End: WebSocketDelegate {
    let connection: WebSocketConnection
    var texts: [String] = []
    var pongs: [[UInt8]] = []
    var closesOnText = false

    init(_ role: WebSocketEngine.Role, messageByteCountMax: Int = 1000) {
        let engine = WebSocketEngine(role: role, messageByteCountMax: messageByteCountMax) { 0x0403_0201 }
        connection = WebSocketConnection(engine: engine)
    }

    func received(text: Span<UInt8>) {
        texts.append((0..<text.count).reduce(into: "") { $0.unicodeScalars.append(Unicode.Scalar(text[$1])) })
        if closesOnText { connection.close(.policyViolation, reason: "no texts") }
    }
    func received(pong: Span<UInt8>) { pongs.append((0..<pong.count).map { pong[$0] }) }

    func receive(_ bytes: [UInt8]) { connection.receive(bytes.span, for: self) }

    var output: [UInt8] {
        var bytes: [UInt8] = []
        connection.collectOutput(into: &bytes, limit: .max)
        return bytes
    }
}

struct WebSocketConnectionTests {
    private let server = End(.server)
    private let client = End(.client)

    /// Encodes a client frame with an all-zero mask, which a client may choose.
    private func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        precondition(payload.count < 126)
        return [first, 0x80 | UInt8(payload.count), 0, 0, 0, 0] + payload
    }

    private func code(_ end: End) -> UInt16? { end.connection.closure?.code.rawValue }

    @Test(
        arguments: [
            (0x89, [], FrameBudget.glitchesPerPing), (0x8A, [], FrameBudget.glitchesPerOtherFrame),
            (0x00, [], FrameBudget.glitchesPerEmptyFrame), (0x00, [0x61], FrameBudget.glitchesPerOtherFrame),
        ] as [(UInt8, [UInt8], Int)])
    func `control frames are accepted in a burst and at a rate, and beyond it close with 1008`(
        first: UInt8, payload: [UInt8], price: Int
    ) {
        let server = End(.server, messageByteCountMax: 100_000)
        if first == 0 { server.receive(frame(0x01, [0x61])) }
        let count = FrameBudget.glitchCountMax / price - 1
        for _ in 0..<count { server.receive(frame(first, payload)) }
        #expect(server.connection.closure == nil)
        // One second later the rate admits the same number again.
        server.connection.now = .past.advanced(bySeconds: 3600)
        for _ in 0..<count { server.receive(frame(first, payload)) }
        #expect(server.connection.closure == nil)
        for _ in 0..<3 * price { server.receive(frame(first, payload)) }
        #expect(code(server) == 1008)
    }

    @Test func `a device may send a ping with each acknowledgement, at any rate`() {
        for _ in 0..<5000 {
            server.connection.send(text: "notification".utf8.span)
            _ = server.output
            for _ in 0..<FrameBudget.pingsPerMessage { server.receive(frame(0x89, [0x31])) }
        }
        #expect(server.connection.closure == nil)
    }

    @Test func `a client does not limit the frames of its server`() {
        for _ in 0..<5000 { client.receive([0x89, 0]) }
        #expect(client.connection.closure == nil)
    }

    @Test(arguments: [0, 1, 125, 126, 127, 999, 1000])
    func `a text message arrives, masked from the client and unmasked from the server`(byteCount: Int) {
        let text = String(repeating: "x", count: byteCount)
        client.connection.send(text: text.utf8.span)
        let masked = client.output
        #expect(masked[1] & 0x80 == 0x80)
        server.receive(masked)
        #expect(server.texts == [text])
        server.connection.send(text: text.utf8.span)
        let plain = server.output
        #expect(plain[1] & 0x80 == 0)
        client.receive(plain)
        #expect(client.texts == [text])
    }

    @Test(arguments: 1...9)
    func `a message arrives whole, however its bytes are split`(pieceByteCount: Int) {
        for text in ["a", "", String(repeating: "b", count: 300)] { client.connection.send(text: text.utf8.span) }
        client.connection.ping([7])
        var rest = client.output[...]
        while !rest.isEmpty {
            server.receive(Array(rest.prefix(pieceByteCount)))
            rest = rest.dropFirst(pieceByteCount)
            #expect(server.connection.isInsideMessage == !rest.isEmpty || rest.count < 400)
        }
        #expect(server.texts == ["a", "", String(repeating: "b", count: 300)])
        #expect(!server.connection.isInsideMessage)
        client.receive(server.output)
        #expect(client.pongs == [[7]] && client.connection.unansweredPingCount == 0)
    }

    @Test func `a connection holds a reader only inside a message`() {
        server.receive(Array(frame(0x81, [0x61]).dropLast()))
        #expect(server.connection.isInsideMessage)
        server.receive([0x61])
        #expect(!server.connection.isInsideMessage && server.texts == ["a"])
        for byte in frame(0x81, [0x62]).dropLast() {
            server.receive([byte])
            #expect(server.connection.isInsideMessage)
        }
    }

    @Test func `fragments make one message, and a ping between them is answered immediately`() {
        server.receive(frame(0x01, [0x61]) + frame(0x89, [0x2A]) + frame(0x00, []))
        #expect(server.texts.isEmpty && server.output == [0x8A, 1, 0x2A])
        #expect(server.connection.isInsideMessage)
        server.receive(frame(0x80, [0x62]))
        #expect(server.texts == ["ab"] && server.connection.frameCount == 4)
        #expect(!server.connection.isInsideMessage)
    }

    @Test(arguments: [
        ("an unmasked frame", [0x81, 0x01, 0x61] as [UInt8], 1002 as UInt16),
        ("a reserved bit", [0xC1, 0x81, 0, 0, 0, 0, 0x61], 1002),
        ("an unknown kind", [0x83, 0x80, 0, 0, 0, 0], 1002),
        ("a continuation of nothing", [0x80, 0x81, 0, 0, 0, 0, 0x61], 1002),
        ("a text inside a text", [0x01, 0x81, 0, 0, 0, 0, 0x61, 0x81, 0x81, 0, 0, 0, 0, 0x62], 1002),
        ("a ping in fragments", [0x09, 0x80, 0, 0, 0, 0], 1002),
        ("a ping of 126 bytes", [0x89, 0xFE, 0, 126, 0, 0, 0, 0], 1002),
        ("a length in more bytes than it needs", [0x81, 0xFE, 0, 5, 0, 0, 0, 0], 1002),
        ("a length beyond all bounds", [0x81, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 1002),
        ("a close code of nobody", [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xED], 1002),
        ("half of a close code", [0x88, 0x81, 0, 0, 0, 0, 0x03], 1002),
        ("binary data", [0x82, 0x81, 0, 0, 0, 0, 0x61], 1003),
        ("a text that is not UTF-8", [0x81, 0x81, 0, 0, 0, 0, 0xFF], 1007),
        ("a text that ends inside a character", [0x81, 0x81, 0, 0, 0, 0, 0xC3], 1007),
        ("1001 bytes announced", [0x81, 0xFE, 0x03, 0xE9, 0, 0, 0, 0, 0x61], 1009),
    ])
    func `a protocol violation closes with its code`(what: String, bytes: [UInt8], expected: UInt16) {
        server.receive(bytes)
        #expect(code(server) == expected && server.connection.closure?.isByPeer == false, "\(what)")
        let sent = server.output
        #expect(sent.starts(with: [0x88]) && sent[2] == UInt8(expected >> 8) && sent[3] == UInt8(expected & 0xFF))
        server.receive(frame(0x81, [0x61]))
        #expect(server.texts.isEmpty && server.output.isEmpty, "nothing is taken or sent after the close")
    }

    @Test func `a fragmented message has the same size limit as an unfragmented one`() {
        let part = [UInt8](repeating: 0x61, count: 100)
        for index in 0..<10 { server.receive(frame(index == 0 ? 0x01 : 0x00, part)) }
        #expect(code(server) == nil)
        server.receive(frame(0x80, []))
        #expect(server.texts.map(\.utf8.count) == [1000])
        for index in 0..<10 { server.receive(frame(index == 0 ? 0x01 : 0x00, part)) }
        server.receive(frame(0x80, [0x61]))
        #expect(code(server) == 1009 && server.texts.count == 1)
    }

    @Test func `a close frame is answered with its code and closes both ends`() {
        client.connection.close(.goingAway, reason: "bye")
        server.receive(client.output)
        #expect(server.connection.closure == .init(code: .goingAway, reason: "the peer closed", isByPeer: true))
        #expect(server.output == [0x88, 5, 0x03, 0xE9] + Array("bye".utf8))
        server.receive(frame(0x88, []))
        #expect(server.output.isEmpty)
    }

    @Test func `a close frame without a code is answered without one`() {
        server.receive(frame(0x88, []))
        #expect(code(server) == 1005 && server.output == [0x88, 0])
    }

    @Test func `a long close reason is cut at a character boundary`() {
        server.connection.close(.policyViolation, reason: String(repeating: "ä", count: 100))
        let sent = server.output
        #expect(sent.count == 2 + 2 + 122)
        client.receive(sent)
        #expect(code(client) == 1008)
    }

    @Test func `a delegate may close inside a message, and nothing follows the close frame`() {
        server.closesOnText = true
        server.receive(frame(0x81, [0x61]) + frame(0x89, []) + frame(0x81, [0x62]))
        #expect(server.output.prefix(2) == [0x88, 10] && server.connection.outputByteCount == 0)
        #expect(server.texts == ["a"])
    }

    @Test func `output is collected in chunks, in order`() {
        for number in 0..<50 { server.connection.send(text: "message \(number)".utf8.span) }
        var whole: [UInt8] = []
        while server.connection.outputByteCount > 0 {
            var part: [UInt8] = []
            server.connection.collectOutput(into: &part, limit: 7)
            #expect(part.count <= 7)
            whole += part
            if whole.count < 100 { server.connection.send(text: "late".utf8.span) }
        }
        client.receive(whole)
        #expect(client.texts.filter { $0 != "late" } == (0..<50).map { "message \($0)" })
    }

    @Test func `connections reuse each other's readers`() {
        let engine = WebSocketEngine(role: .server, messageByteCountMax: 1000) { 0 }
        let ends = (0..<3).map { _ in End(.server) }
        let connections = ends.map { _ in WebSocketConnection(engine: engine) }
        for _ in 0..<3 {
            for (connection, end) in zip(connections, ends) {
                connection.receive(frame(0x01, [0x61]).span, for: end)
                connection.receive(frame(0x80, [0x62]).span, for: end)
            }
        }
        connections[0].receive(frame(0x81, [0xFF]).span, for: ends[0])
        #expect(connections[0].closure != nil)
        connections[1].receive(frame(0x81, [0x63]).span, for: ends[1])
        #expect(ends[1].texts == ["ab", "ab", "ab", "c"])
    }
}
