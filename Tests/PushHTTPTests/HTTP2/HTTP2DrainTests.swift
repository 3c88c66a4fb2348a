// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import TestSupport
import PushNet
import Testing

/// Checks streams whose answer is sent before the end of their request.
struct HTTP2DrainTests {
    private static let stop = [Frame.reset(1, code: ErrorCode.none)]

    /// Returns a peer with an answer on stream 1, an unfinished upload, and our PING unanswered.
    private static func answered() -> Peer {
        let peer = Peer()
        peer.recorder.onHead = { if $0.id == 1 { $0.respond(status: 413, body: Array("{}".utf8)) } }
        let answer = peer.exchange(.request(1), .data(1, [1, 2, 3]))
        #expect(answer.map(\.type) == [Frame.Kind.headers, Frame.Kind.data, Frame.Kind.ping])
        #expect(answer.map(\.endsStream) == [false, true, false])
        return peer
    }

    /// Returns the answer to our PING with a given number.
    private static func pong(_ number: UInt8) -> Frame {
        .ping([number, 0, 0, 0, 0, 0, 0, 0], flags: Frame.acknowledge)
    }

    /// Returns DATA frames on stream 1 with a given total size.
    private static func upload(_ byteCount: Int) -> [Frame] {
        stride(from: 0, to: byteCount, by: 16_000).map {
            .data(1, [UInt8](repeating: 1, count: min(16_000, byteCount - $0)))
        }
    }

    @Test func `the rest of an upload after its answer is dropped, and delays no other stream`() {
        let peer = Self.answered()
        #expect(peer.recorder.endedIDs == [1] && peer.session.openExchangeCount == 0)
        #expect(peer.session.exchange(1) == nil)
        #expect(peer.exchange(.data(1, [4]), .data(1, [5], end: true)).isEmpty)
        #expect(peer.recorder.requests.isEmpty && peer.recorder.endedIDs == [1])
        #expect(peer.exchange(.request(3, end: true)).first?.type == Frame.Kind.headers)
        #expect(peer.session.failure == nil)
    }

    @Test func `an upload is stopped once the peer has read its answer`() {
        let peer = Self.answered()
        #expect(peer.exchange(.data(1, [4])).isEmpty)
        #expect(peer.exchange(Self.pong(1)) == Self.stop)
        #expect(peer.exchange(.data(1, [4]), .data(1, [5], end: true)).isEmpty)
        #expect(peer.session.failure == nil && peer.session.unansweredPingCount == 0)
    }

    @Test func `a PING answer stops the uploads that were answered before that PING, and no other`() {
        let peer = Peer()
        peer.recorder.onHead = { $0.respond(status: 413) }
        peer.session.ping()
        for id: Int32 in [1, 3, 5, 7] {
            #expect(peer.exchange(.request(id)).suffix(2).map(\.type) == [Frame.Kind.headers, Frame.Kind.ping])
        }
        #expect(peer.exchange(Self.pong(1)).isEmpty)
        #expect(peer.exchange(.data(3, [], end: true), Self.pong(4)).map(\.stream) == [1, 5])
        #expect(peer.exchange(Self.pong(5)) == [.reset(7, code: ErrorCode.none)])
    }

    @Test func `an upload that has ended is not reset`() {
        let peer = Self.answered()
        #expect(peer.exchange(.data(1, [], end: true), Self.pong(1)).isEmpty)
    }

    @Test func `an upload gets window updates while it is dropped`() {
        let peer = Self.answered()
        var windows: [Int32: Int] = [0: Int(HTTPBounds.connectionWindowByteCount) - 3, 1: 65_535 - 3]
        for frame in Self.upload(HTTPBounds.drainedByteCountMax) {
            let answer = peer.exchange(frame)
            for id: Int32 in [0, 1] {
                let opened = answer.filter { $0.type == Frame.Kind.windowUpdate && $0.stream == id }
                windows[id, default: 0] += opened.reduce(-frame.payload.count) { $0 + Int($1.number()) }
                #expect(windows[id, default: 0] > 0)
            }
        }
    }

    @Test(arguments: [(0, false), (1, true)])
    func `an upload is reset one byte over the drop limit`(excess: Int, isStopped: Bool) {
        let peer = Self.answered()
        for frame in Self.upload(HTTPBounds.drainedByteCountMax) {
            #expect(!peer.exchange(frame).contains { $0.type == Frame.Kind.reset })
        }
        let answer = peer.exchange(.data(1, [UInt8](repeating: 1, count: excess)))
        #expect(answer == (isStopped ? Self.stop : []))
        #expect(peer.exchange(.data(1, [1]), .headers(1, [("a", "b")], end: true)) == (isStopped ? [] : Self.stop))
        #expect(peer.session.failure == nil)
    }

    @Test(arguments: [(9, false), (10, true)])
    func `an upload is reset when its time limit passes`(seconds: Int64, isStopped: Bool) {
        let ticking = Self.answered()
        ticking.wait(seconds: seconds)
        ticking.session.tick()
        #expect(ticking.session.hasOutput == isStopped)
        #expect(ticking.frames() == (isStopped ? Self.stop : []))
        ticking.session.tick()
        #expect(ticking.frames().isEmpty)
        let busy = Self.answered()
        busy.wait(seconds: seconds)
        #expect(busy.exchange(.data(1, [1])) == (isStopped ? Self.stop : []))
    }

    @Test func `a clock at its maximum stops no upload too early`() {
        let peer = Peer()
        peer.session.now = MonotonicTime(nanoseconds: .max - 1)
        peer.recorder.onHead = { $0.respond(status: 413) }
        #expect(peer.exchange(.request(1)).map(\.type) == [Frame.Kind.headers, Frame.Kind.ping])
        peer.session.tick()
        #expect(peer.frames().isEmpty)
    }

    @Test func `the number of dropped uploads is limited, and further ones are reset immediately`() {
        let peer = Peer()
        peer.recorder.onHead = { $0.respond(status: 403) }
        let drained = Int32(HTTPBounds.drainedStreamCountMax)
        let taken = [Frame.Kind.headers, Frame.Kind.ping]
        for index in 0..<drained { #expect(peer.exchange(.request(index * 2 + 1)).map(\.type) == taken) }
        let next = drained * 2 + 1
        let answer = peer.exchange(.request(next))
        #expect(answer.map(\.type) == [Frame.Kind.headers, Frame.Kind.reset])
        #expect(answer.last == .reset(next, code: ErrorCode.none))
        #expect(peer.session.openExchangeCount == 0 && peer.recorder.endedIDs.count == peer.recorder.headIDs.count)
        // The end of one dropped upload permits another one, however it ends.
        #expect(peer.exchange(.data(1, [], end: true), .request(next + 2)).map(\.type) == taken)
        #expect(peer.exchange(.reset(3), .request(next + 4)).map(\.type) == taken)
        #expect(peer.exchange(.request(next + 6)).map(\.type) == [Frame.Kind.headers, Frame.Kind.reset])
    }

    @Test(arguments: [(true, []), (false, stop)])
    func `trailers that end a dropped upload are accepted, and others reset it`(isEnd: Bool, answer: [Frame]) {
        let peer = Self.answered()
        #expect(peer.exchange(.headers(1, [("a", "b")], end: isEnd)) == answer)
        #expect(peer.exchange(.request(3, end: true)).first?.type == Frame.Kind.headers)
        #expect(peer.session.failure == nil)
    }

    @Test func `a peer that resets a dropped upload is not answered`() {
        let peer = Self.answered()
        #expect(peer.exchange(.reset(1)).isEmpty)
        peer.wait(seconds: 60)
        peer.session.tick()
        #expect(!peer.session.hasOutput && peer.recorder.endedIDs == [1])
    }

    @Test func `an answer that waits for the window does not end the stream`() {
        let peer = Peer()
        peer.recorder.onHead = { $0.respond(status: 413, body: [UInt8](repeating: 1, count: 70_000)) }
        #expect(!peer.exchange(.request(1)).contains { $0.endsStream })
        #expect(peer.session.openExchangeCount == 1)
        let answer = peer.exchange(.windowUpdate(0, 70_000), .windowUpdate(1, 70_000))
        #expect(answer.last?.type == Frame.Kind.ping && answer.dropLast().last?.endsStream == true)
        #expect(peer.session.openExchangeCount == 0)
        #expect(peer.exchange(.data(1, [1], end: true)).isEmpty)
    }

    @Test func `a dropped upload delays a shutdown by at most its time limit`() {
        let peer = Self.answered()
        peer.session.finishShutdown(debugData: [])
        #expect(peer.frames().map(\.type) == [Frame.Kind.goAway])
        peer.wait(seconds: 10)
        peer.session.tick()
        #expect(peer.frames() == Self.stop)
        #expect(peer.session.isFinished)
    }

    @Test func `a session that is closed forgets its dropped uploads`() {
        let peer = Self.answered()
        peer.session.close()
        peer.wait(seconds: 10)
        peer.session.tick()
        #expect(!peer.session.hasOutput && peer.session.isFinished && peer.recorder.endedIDs == [1])
    }
}
