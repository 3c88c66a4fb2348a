// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import TestSupport
import Testing

/// Sends frames on closed streams: h2spec's cases 5.1/8, 9, 11, 12 and 5.1.1/2, and similar frames that are valid.
struct HTTP2ClosedStreamTests {
    private static let data = Frame.data(1, Array("test".utf8), end: true)
    private static let trailers = Frame.headers(1, [("a", "b")], end: true)

    @Test(arguments: [data, trailers, .request(1, end: true)])
    func `a frame after the peer's own RST_STREAM is STREAM_CLOSED`(late: Frame) {
        let peer = Peer()
        peer.recorder.onRequest = { _ in }
        #expect(peer.exchange(.request(1), .reset(1)).isEmpty)
        #expect(Peer.goAwayCode(peer.exchange(late)) == ErrorCode.streamClosed)
        #expect(peer.session.isFinished && peer.recorder.endedIDs == [1])
    }

    @Test(arguments: [data, trailers, .request(1, end: true)])
    func `a frame after END_STREAM of both sides is STREAM_CLOSED`(late: Frame) {
        let peer = Peer()
        #expect(peer.exchange(.request(1, end: true)).map(\.endsStream) == [true])
        #expect(Peer.goAwayCode(peer.exchange(late)) == ErrorCode.streamClosed)
        #expect(peer.session.isFinished)
    }

    @Test func `the end of a stream takes effect wherever a frame's header is split`() {
        for place in 1..<9 {
            let peer = Peer()
            let bytes = Frame.request(1).bytes + Self.data.bytes
            let start = Frame.request(1).bytes.count + place
            peer.send(Array(bytes[..<start]))
            peer.send(Array(bytes[start...]))
            _ = peer.frames()
            #expect(Peer.goAwayCode(peer.exchange(Self.data)) == ErrorCode.streamClosed)
        }
    }

    @Test func `a stream ID that is lower than an earlier one is PROTOCOL_ERROR`() {
        let peer = Peer()
        #expect(peer.exchange(.request(5, end: true)).map(\.endsStream) == [true])
        #expect(Peer.goAwayCode(peer.exchange(.request(3, end: true))) == ErrorCode.protocolError)
        #expect(peer.recorder.headIDs == [5])
    }

    @Test func `gaps between stream IDs are allowed`() {
        let peer = Peer()
        for index in 1..<Int32(100) { #expect(peer.exchange(.request(index * 20 + 1, end: true)).count == 1) }
        #expect(peer.exchange(.request(Int32.max, end: true)).count == 1)
        #expect(peer.session.failure == nil)
    }

    @Test func `frames that cross our reset are ignored, and so are PRIORITY, WINDOW_UPDATE and RST_STREAM`() {
        let peer = Peer()
        peer.recorder.onHead = { $0.abandon() }
        #expect(peer.exchange(.request(1)) == [.reset(1, code: ErrorCode.cancel)])
        #expect(peer.exchange(.data(1, [1]), .data(1, [2]), Self.data).isEmpty)
        #expect(peer.exchange(.windowUpdate(1, 1), .reset(1), .windowUpdate(1, 1)).isEmpty)
        peer.send(Frame(type: Frame.Kind.priority, stream: 1, payload: [0, 0, 0, 0, 5]))
        #expect(peer.session.failure == nil && peer.frames().isEmpty)
    }

    @Test func `trailers that cross our reset are ignored`() {
        let peer = Peer()
        peer.recorder.onHead = { $0.abandon() }
        #expect(peer.exchange(.request(1), .request(3)).count == 2)
        #expect(peer.exchange(.headers(1, [("a", "b")], end: true)).isEmpty)
        #expect(peer.session.failure == nil)
    }
}
