// SPDX-License-Identifier: Apache-2.0

import PushHTTP
import Testing

/// Streams that are answered before their request has ended.
struct HTTP2DrainTests {
    private static let second: UInt64 = 1_000_000_000
    private static let stop = [Frame.reset(1, code: ErrorCode.none)]

    /// A peer that got an answer on stream 1 and has not ended its upload.
    private static func answered() -> Peer {
        let peer = Peer()
        peer.recorder.onHead = { if $0.id == 1 { $0.respond(status: 413, body: Array("{}".utf8)) } }
        let answer = peer.exchange(.request(1), .data(1, [1, 2, 3]))
        #expect(answer.map(\.type) == [Frame.Kind.headers, Frame.Kind.data])
        #expect(answer.map(\.endsStream) == [false, true])
        return peer
    }

    /// DATA on stream 1 that makes up some bytes.
    private static func upload(_ byteCount: Int) -> [Frame] {
        stride(from: 0, to: byteCount, by: 16_000).map {
            .data(1, [UInt8](repeating: 1, count: min(16_000, byteCount - $0)))
        }
    }

    @Test func `the rest of an upload after its answer is dropped, and nobody waits for it`() {
        let peer = Self.answered()
        #expect(peer.recorder.endedIDs == [1] && peer.session.openExchangeCount == 0)
        #expect(peer.session.exchange(1) == nil)
        #expect(peer.exchange(.data(1, [4]), .data(1, [5], end: true)).isEmpty)
        #expect(peer.recorder.requests.isEmpty && peer.recorder.endedIDs == [1])
        #expect(peer.exchange(.request(3, end: true)).first?.type == Frame.Kind.headers)
        #expect(peer.session.failure == nil)
    }

    @Test func `an upload gets its windows back while it is dropped`() {
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
    func `an upload is stopped one byte over what is dropped`(excess: Int, isStopped: Bool) {
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
    func `an upload is stopped when its time is over`(seconds: UInt64, isStopped: Bool) {
        let ticking = Self.answered()
        ticking.session.nowNanoseconds += seconds * Self.second
        ticking.session.tick()
        #expect(ticking.session.hasOutput == isStopped)
        #expect(ticking.frames() == (isStopped ? Self.stop : []))
        ticking.session.tick()
        #expect(ticking.frames().isEmpty)
        let busy = Self.answered()
        busy.session.nowNanoseconds += seconds * Self.second
        #expect(busy.exchange(.data(1, [1])) == (isStopped ? Self.stop : []))
    }

    @Test func `a clock at its end stops nothing too early`() {
        let peer = Peer()
        peer.session.nowNanoseconds = .max - 1
        peer.recorder.onHead = { $0.respond(status: 413) }
        #expect(peer.exchange(.request(1)).map(\.type) == [Frame.Kind.headers])
        peer.session.tick()
        #expect(peer.frames().isEmpty)
    }

    @Test func `only so many uploads are dropped at once, and the next are stopped at once`() {
        let peer = Peer()
        peer.recorder.onHead = { $0.respond(status: 403) }
        let drained = Int32(HTTPBounds.drainedStreamCountMax)
        for index in 0..<drained { #expect(peer.exchange(.request(index * 2 + 1)).map(\.type) == [1]) }
        let next = drained * 2 + 1
        let answer = peer.exchange(.request(next))
        #expect(answer.map(\.type) == [Frame.Kind.headers, Frame.Kind.reset])
        #expect(answer.last == .reset(next, code: ErrorCode.none))
        #expect(peer.session.openExchangeCount == 0 && peer.recorder.endedIDs.count == peer.recorder.headIDs.count)
        // The end of one makes room for another, whichever way it ends.
        #expect(peer.exchange(.data(1, [], end: true), .request(next + 2)).map(\.type) == [Frame.Kind.headers])
        #expect(peer.exchange(.reset(3), .request(next + 4)).map(\.type) == [Frame.Kind.headers])
        #expect(peer.exchange(.request(next + 6)).map(\.type) == [Frame.Kind.headers, Frame.Kind.reset])
    }

    @Test(arguments: [(true, []), (false, stop)])
    func `trailers that end a dropped upload are fine, others stop it`(isEnd: Bool, answer: [Frame]) {
        let peer = Self.answered()
        #expect(peer.exchange(.headers(1, [("a", "b")], end: isEnd)) == answer)
        #expect(peer.exchange(.request(3, end: true)).first?.type == Frame.Kind.headers)
        #expect(peer.session.failure == nil)
    }

    @Test func `a peer that resets a dropped upload is not answered`() {
        let peer = Self.answered()
        #expect(peer.exchange(.reset(1)).isEmpty)
        peer.session.nowNanoseconds += 60 * Self.second
        peer.session.tick()
        #expect(!peer.session.hasOutput && peer.recorder.endedIDs == [1])
    }

    @Test func `an answer that waits for the window is not an end`() {
        let peer = Peer()
        peer.recorder.onHead = { $0.respond(status: 413, body: [UInt8](repeating: 1, count: 70_000)) }
        #expect(!peer.exchange(.request(1)).contains { $0.endsStream })
        #expect(peer.session.openExchangeCount == 1)
        #expect(peer.exchange(.windowUpdate(0, 70_000), .windowUpdate(1, 70_000)).last?.endsStream == true)
        #expect(peer.session.openExchangeCount == 0)
        #expect(peer.exchange(.data(1, [1], end: true)).isEmpty)
    }

    @Test func `a dropped upload holds up no shutdown for longer than its time`() {
        let peer = Self.answered()
        peer.session.finishShutdown(debugData: [])
        #expect(peer.frames().map(\.type) == [Frame.Kind.goAway])
        peer.session.nowNanoseconds += 10 * Self.second
        peer.session.tick()
        #expect(peer.frames() == Self.stop)
        #expect(peer.session.isFinished)
    }

    @Test func `a session that is closed forgets its dropped uploads`() {
        let peer = Self.answered()
        peer.session.close()
        peer.session.nowNanoseconds += 10 * Self.second
        peer.session.tick()
        #expect(!peer.session.hasOutput && peer.session.isFinished && peer.recorder.endedIDs == [1])
    }
}
