// SPDX-License-Identifier: Apache-2.0

import PushNet
import Testing

@testable import PushWebSocket

/// Collects the messages of a connection.
private final class Receiver: WebSocketDelegate {
    var texts: [[UInt8]] = []

    func received(text: Span<UInt8>) { texts.append(text.indices.map { text[$0] }) }
    func received(pong: Span<UInt8>) {}
}

struct FrameWriterTests {
    private static func header(_ byteCount: Int) -> [UInt8] {
        switch byteCount {
        case 0..<126: [0x81, UInt8(byteCount)]
        case 126..<65_536: [0x81, 126, UInt8(byteCount >> 8), UInt8(byteCount & 0xFF)]
        default:
            [0x81, 127]
                + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: byteCount >> $0) }
        }
    }

    private static func write(_ message: [UInt8], byteCountMax: Int, _ role: WebSocketEngine.Role) -> [UInt8] {
        let engine = WebSocketEngine(role: role, messageByteCountMax: 1 << 20) { 0x0403_0201 }
        let connection = WebSocketConnection(engine: engine, handshake: [0x2A])
        connection.sendText(byteCountMax: byteCountMax) { output in
            for byte in message { output.append(byte) }
        }
        var output: [UInt8] = []
        connection.collectOutput(into: &output, limit: .max)
        return Array(output.dropFirst())
    }

    @Test(arguments: [0, 1, 125, 126, 127, 65_535, 65_536, 70_000], [0, 1, 200, 70_000])
    func `a frame has the shortest header for its length, however much space was reserved`(
        byteCount: Int, reserve: Int
    ) {
        let message = (0..<byteCount).map { UInt8(0x61 + $0 % 26) }
        let frame = Self.write(message, byteCountMax: byteCount + reserve, .server)
        #expect(Array(frame.prefix(frame.count - byteCount)) == Self.header(byteCount))
        #expect(Array(frame.suffix(byteCount)) == message)
    }

    @Test(arguments: [0, 1, 5, 125, 126, 65_536], [0, 300])
    func `a client's frame is masked, and a server reads it`(byteCount: Int, reserve: Int) {
        let message = (0..<byteCount).map { UInt8(0x61 + $0 % 26) }
        let frame = Self.write(message, byteCountMax: byteCount + reserve, .client)
        let plainHeader = Self.header(byteCount)
        var maskedHeader = plainHeader
        maskedHeader[1] |= 0x80
        #expect(Array(frame.prefix(plainHeader.count + 4)) == maskedHeader + [1, 2, 3, 4])
        let receiver = Receiver()
        let engine = WebSocketEngine(role: .server, messageByteCountMax: 1 << 20) { 0 }
        let server = WebSocketConnection(engine: engine)
        server.receive(frame.span, for: receiver)
        #expect(server.closure == nil)
        #expect(receiver.texts == [message])
    }
}
