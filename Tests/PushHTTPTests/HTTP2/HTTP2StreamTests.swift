// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import TestSupport
import PushNet
import Testing

/// Checks answers with a body that is sent in pieces.
struct HTTP2StreamTests {
    @Test func `a request whose head comes in pieces has the start time of the first piece`() {
        let peer = Peer()
        let begin = MonotonicTime.past.advanced(bySeconds: 60)
        peer.session.now = begin
        var head = Frame.request(1)
        head.flags = 0
        #expect(peer.send(head))
        #expect(peer.session.openExchanges.map(\.beganAt) == [begin])
    }

    private static func streaming() -> (Peer, HTTPExchange) {
        let peer = Peer()
        var exchange: HTTPExchange?
        peer.recorder.onRequest = {
            $0.addField("content-type", "text/event-stream")
            $0.beginStream(status: 200)
            exchange = $0
        }
        let answer = peer.exchange(.request(1, method: "GET", end: true))
        #expect(answer.map(\.type) == [Frame.Kind.headers])
        #expect(!answer[0].endsStream)
        guard let exchange else { preconditionFailure("the request did not arrive") }
        return (peer, exchange)
    }

    @Test func `pieces are sent as they come, and END_STREAM is sent once`() {
        let (peer, exchange) = Self.streaming()
        #expect(!peer.session.hasOutput)
        for piece: [UInt8] in [[1], [2, 3], [4, 5, 6]] {
            exchange.send(piece)
            #expect(exchange.unsentByteCount == piece.count)
            #expect(peer.session.hasOutput)
            #expect(peer.frames() == [.data(1, piece)])
            #expect(exchange.unsentByteCount == 0)
        }
        exchange.send([7])
        exchange.send([8])
        exchange.endStream()
        #expect(peer.frames() == [.data(1, [7, 8], end: true)])
        #expect(peer.recorder.endedIDs == [1])
        exchange.send([9])
        #expect(exchange.unsentByteCount == 0 && peer.frames().isEmpty)
    }

    @Test func `a stream that was idle and released its memory continues`() {
        let (peer, exchange) = Self.streaming()
        for number in UInt8(0)..<3 {
            #expect(!peer.session.isQuiet)
            peer.session.tick()
            peer.session.tick()
            #expect(peer.session.isQuiet)
            let piece = [UInt8](repeating: number, count: 16_384)
            exchange.send(piece)
            #expect(!peer.session.isQuiet)
            #expect(peer.frames() == [.data(1, piece)])
            peer.send(.windowUpdate(0, 16_384), .windowUpdate(1, 16_384))
        }
        exchange.endStream()
        #expect(peer.frames() == [.data(1, [], end: true)])
        #expect(!peer.session.isQuiet)
    }

    @Test func `a stream without remaining data ends with an empty frame`() {
        let (peer, exchange) = Self.streaming()
        exchange.endStream()
        exchange.endStream()
        #expect(peer.frames() == [.data(1, [], end: true)])
        #expect(peer.recorder.endedIDs == [1])
    }

    @Test func `an empty piece sends nothing`() {
        let (peer, exchange) = Self.streaming()
        exchange.send([])
        #expect(peer.frames().isEmpty)
    }

    @Test func `bytes that wait for the window are counted exactly, and are sent when it opens`() {
        let (peer, exchange) = Self.streaming()
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        exchange.send(bytes)
        #expect(exchange.unsentByteCount == 100_000)
        var received = peer.frames().flatMap(\.payload)
        #expect(received.count == 65_535)
        #expect(exchange.unsentByteCount == 100_000 - 65_535)
        exchange.send([1, 2, 3])
        received += peer.exchange(.windowUpdate(0, 10)).flatMap(\.payload)
        #expect(received.count == 65_535)
        received += peer.exchange(.windowUpdate(1, 20)).flatMap(\.payload)
        #expect(received.count == 65_545)
        #expect(exchange.unsentByteCount == 100_003 - 65_545)
        received += peer.exchange(.windowUpdate(0, 100_000), .windowUpdate(1, 100_000)).flatMap(\.payload)
        #expect(received == bytes + [1, 2, 3])
        #expect(exchange.unsentByteCount == 0)
    }

    @Test func `output stops near the limit and continues later`() {
        let (peer, exchange) = Self.streaming()
        exchange.send([UInt8](repeating: 1, count: 60_000))
        var output: [UInt8] = []
        peer.session.collectOutput(into: &output, limit: 20_000)
        #expect(output.count >= 20_000 && output.count < 20_000 + 16_384 + 9)
        #expect(peer.session.hasOutput)
        #expect(exchange.unsentByteCount == 60_000 - Frame.take(from: &output).flatMap(\.payload).count)
    }

    @Test func `a stream that is abandoned is reset and ends`() {
        let (peer, exchange) = Self.streaming()
        exchange.send([UInt8](repeating: 1, count: 100_000))
        _ = peer.frames()
        exchange.abandon()
        #expect(peer.frames() == [.reset(1, code: ErrorCode.cancel)])
        #expect(peer.recorder.endedIDs == [1])
        exchange.abandon()
        #expect(peer.frames().isEmpty)
        #expect(peer.session.failure == nil)
    }

    @Test func `a stream that the peer resets ends and accepts nothing more`() {
        let (peer, exchange) = Self.streaming()
        peer.send(.reset(1))
        #expect(peer.recorder.endedIDs == [1])
        exchange.send([1])
        exchange.endStream()
        #expect(peer.frames().isEmpty)
    }
}
