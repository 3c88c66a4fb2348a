// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import TestSupport
import Testing

struct HTTP2BodyTests {
    @Test(arguments: [0, 1, 4095, 4096])
    func `a body up to the limit is kept whole`(byteCount: Int) {
        let peer = Peer()
        let body = [UInt8](repeating: UInt8(ascii: "a"), count: byteCount)
        #expect(peer.exchange(.request(1), .data(1, body, end: true)).count == 1)
        #expect(peer.recorder.requests.map(\.body.utf8.count) == [byteCount])
        #expect(peer.recorder.requests.map(\.overflowed) == [false])
    }

    @Test(arguments: [4097, 5000, 16_384])
    func `a body over the limit is cut and delivered immediately`(byteCount: Int) {
        let peer = Peer()
        peer.recorder.onRequest = { $0.respond(status: $0.bodyOverflowed ? 413 : 200) }
        let answer = peer.exchange(.request(1), .data(1, [UInt8](repeating: 1, count: byteCount)))
        #expect(peer.recorder.requests.map(\.overflowed) == [true])
        #expect(peer.recorder.requests.map(\.body.utf8.count) == [4096])
        #expect(answer.map(\.type) == [Frame.Kind.headers, Frame.Kind.ping])
    }

    @Test func `a body over the limit that is answered late is delivered once`() {
        let peer = Peer()
        peer.recorder.onRequest = { _ in }
        peer.send(.request(1), .data(1, [UInt8](repeating: 1, count: 5000)))
        peer.send(.data(1, [UInt8](repeating: 1, count: 5000)), .data(1, [], end: true))
        #expect(peer.recorder.requests.count == 1)
        peer.session.exchange(1)?.respond(status: 413)
        #expect(peer.frames().filter { $0.stream == 1 }.map(\.type) == [Frame.Kind.headers])
    }

    @Test func `an early answer to a request that has ended is not followed by a reset`() {
        let peer = Peer()
        peer.recorder.onHead = { $0.respond(status: 200) }
        #expect(peer.exchange(.request(1, end: true)).map(\.type) == [Frame.Kind.headers])
        #expect(peer.recorder.requests.isEmpty)
        #expect(peer.recorder.endedIDs == [1])
    }

    @Test(arguments: ["1", "3"])
    func `a body with a wrong content-length resets only its stream`(contentLength: String) {
        let peer = Peer()
        let answer = peer.exchange(
            .request(1, fields: [("content-length", contentLength)]), .data(1, [1, 2], end: true))
        #expect(answer == [.reset(1, code: ErrorCode.protocolError)])
        #expect(peer.recorder.requests.isEmpty)
        #expect(peer.recorder.endedIDs == [1])
        #expect(peer.exchange(.request(3, end: true)).count == 1)
    }

    @Test func `uploads on many streams never exhaust the connection's window`() {
        let peer = Peer()
        var (sent, window) = (0, Int(HTTPBounds.connectionWindowByteCount))
        for id in stride(from: Int32(1), to: 2001, by: 2) {
            let body = [UInt8](repeating: 1, count: 4096)
            let answer = peer.exchange(.request(id), .data(id, body, end: true))
            #expect(answer.contains { $0.stream == id && $0.endsStream })
            sent += body.count
            window += answer.filter { $0.type == Frame.Kind.windowUpdate && $0.stream == 0 }
                .reduce(0) { $0 + Int($1.number()) }
            #expect(sent < window)
        }
        #expect(sent > 2 * Int(HTTPBounds.connectionWindowByteCount))
    }

    @Test func `a long upload gets window updates for its stream`() {
        let peer = Peer()
        peer.recorder.bodyByteCountMax = 1 << 20
        peer.recorder.onRequest = { _ in }
        peer.send(.request(1))
        let answer = (0..<4).flatMap { _ in peer.exchange(.data(1, [UInt8](repeating: 1, count: 16_000))) }
        #expect(answer.contains { $0.type == Frame.Kind.windowUpdate && $0.stream == 1 })
    }

    @Test func `errors wait whole for a window, and accepted requests are still answered`() {
        let peer = Peer()
        let body = Array(#"{"reason":"BadDeviceToken"}"#.utf8)
        peer.recorder.onRequest = { $0.method == .put ? $0.respond(status: 200) : $0.respond(status: 400, body: body) }
        let whole = 65_535 / body.count
        let streams = whole + 20
        let answers = (0..<streams).flatMap { peer.exchange(.request(Int32($0) * 2 + 1, end: true)) }
        let data = answers.filter { $0.type == Frame.Kind.data }
        #expect(data.count == whole)
        #expect(data.allSatisfy { $0.payload == body && $0.endsStream })
        #expect(peer.session.openExchangeCount == 20)
        let accepted = Int32(streams) * 2 + 1
        #expect(peer.exchange(.request(accepted, method: "PUT", end: true)).map(\.endsStream) == [true])
        // Opening the window releases the rest, each error in one frame. A little more window releases one more error.
        let few = peer.exchange(.windowUpdate(0, UInt32(body.count))).filter { $0.type == Frame.Kind.data }
        #expect(few.count == 1)
        let rest = peer.exchange(.windowUpdate(0, 65_535)).filter { $0.type == Frame.Kind.data }
        #expect(rest.count == 19)
        #expect((few + rest).allSatisfy { $0.payload == body && $0.endsStream })
        #expect(peer.session.openExchangeCount == 0)
    }

    @Test func `a waiting error is dropped when its stream is reset`() {
        let peer = Peer()
        peer.recorder.onRequest = { $0.respond(status: 400, body: [UInt8](repeating: 1, count: 16_000)) }
        for id in stride(from: Int32(1), through: 9, by: 2) { _ = peer.exchange(.request(id, end: true)) }
        #expect(peer.session.openExchangeCount == 1)
        #expect(peer.exchange(.reset(9)).isEmpty)
        #expect(peer.exchange(.windowUpdate(0, 65_535)).isEmpty)
        #expect(peer.recorder.endedIDs.count == 5)
    }

    @Test func `a client with tiny windows gets its answer in pieces`() {
        let peer = Peer()
        peer.recorder.onRequest = { $0.respond(status: 400, body: [1, 2, 3]) }
        let first = peer.exchange(.settings([(4, 1)]), .request(1, end: true)).filter { $0.type == Frame.Kind.data }
        #expect(first == [.data(1, [1])])
        #expect(peer.exchange(.windowUpdate(1, 5)) == [.data(1, [2, 3], end: true)])
    }

    @Test func `an answer larger than a frame is split into frames, and the last one ends the stream`() {
        let peer = Peer()
        let body = (0..<40_000).map { UInt8(truncatingIfNeeded: $0) }
        peer.recorder.onRequest = { $0.respond(status: 200, body: body) }
        let data = peer.exchange(.request(1, end: true)).filter { $0.type == Frame.Kind.data }
        #expect(data.map(\.payload.count) == [16_384, 16_384, 7232])
        #expect(data.map(\.endsStream) == [false, false, true])
        #expect(data.flatMap(\.payload) == body)
    }
}
