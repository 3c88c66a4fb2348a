// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import PushWebSocket

/// Connections whose messages are binary.
struct BinaryMessageTests {
    /// One end of a connection, with the messages that it received.
    private final class End: WebSocketDelegate {
        let connection: WebSocketConnection
        var messages: [[UInt8]] = []
        var textCount = 0

        init(_ role: WebSocketEngine.Role, messageByteCountMax: Int = 70_000) {
            let engine = WebSocketEngine(
                role: role, messageKind: .binary, messageByteCountMax: messageByteCountMax
            ) { 0x0403_0201 }
            connection = WebSocketConnection(engine: engine)
        }

        func received(text: Span<UInt8>) { textCount += 1 }
        func received(binary: Span<UInt8>) { messages.append(binary.indices.map { binary[$0] }) }
        func received(pong: Span<UInt8>) {}

        func receive(_ bytes: [UInt8]) { connection.receive(bytes.span, for: self) }

        var output: [UInt8] {
            var bytes: [UInt8] = []
            connection.collectOutput(into: &bytes, limit: .max)
            return bytes
        }
    }

    @Test(arguments: [0, 1, 125, 126, 65_535, 65_536, 70_000])
    func `a message of any bytes arrives at both ends`(byteCount: Int) {
        var generator = SeededGenerator(seed: 1)
        let message = (0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let ends = (End(.client), End(.server))
        for (from, to) in [ends, (ends.1, ends.0)] {
            from.connection.send(binary: message.span)
            let bytes = from.output
            #expect(bytes.first == 0x82)
            to.receive(bytes)
            #expect(to.messages == [message] && to.textCount == 0)
        }
    }

    @Test func `a message in pieces is joined`() {
        let server = End(.server)
        server.receive([0x02, 0x82, 0, 0, 0, 0, 0xFF, 0xFE, 0x80, 0x81, 0, 0, 0, 0, 0x00])
        #expect(server.messages == [[0xFF, 0xFE, 0x00]])
    }

    @Test func `a text message closes with 1003`() {
        let server = End(.server)
        server.receive([0x81, 0x81, 0, 0, 0, 0, 0x61])
        #expect(server.connection.closure?.code == .unsupportedData)
        #expect(server.messages.isEmpty && server.textCount == 0)
    }

    @Test func `a message that is too long closes with 1009`() {
        let (client, server) = (End(.client), End(.server, messageByteCountMax: 1_000))
        client.connection.send(binary: [UInt8](repeating: 1, count: 1_001).span)
        server.receive(client.output)
        #expect(server.connection.closure?.code == .messageTooBig && server.messages.isEmpty)
    }
}
