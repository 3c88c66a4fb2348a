// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import TestSupport
import Testing

/// Checks the number of streams that a peer may open, before and after it has acknowledged the limit.
struct HTTP2StreamLimitTests {
    private static let early = HTTPBounds.earlyStreamCountMax
    private static let streamsSetting: UInt32 = 3

    private static func limits(_ streams: Int, advertised: Int? = nil) -> HTTPSessionLimits {
        HTTPSessionLimits(
            concurrentStreamCountMax: streams, advertisedStreamCount: advertised, headerListByteCountMax: 16_384,
            advertisedHeaderListByteCountMax: 8000, headerFieldCountMax: 64)
    }

    /// Returns a greeted peer whose three streams are all open.
    private static func full() -> Peer {
        let peer = Peer(limits: limits(3))
        peer.recorder.onRequest = { _ in }
        #expect(peer.exchange(.request(1, end: true), .request(3, end: true), .request(5, end: true)).isEmpty)
        return peer
    }

    /// Returns the stream limits in SETTINGS frames that are not acknowledgements.
    private static func advertised(_ frames: [Frame]) -> [UInt32] {
        frames.filter { $0.type == Frame.Kind.settings && $0.flags == 0 }.flatMap { frame in
            stride(from: 0, to: frame.payload.count, by: 6).compactMap { offset -> UInt32? in
                let id = UInt32(frame.payload[offset]) << 8 | UInt32(frame.payload[offset + 1])
                return id == streamsSetting ? frame.number(at: offset + 2) : nil
            }
        }
    }

    @Test func `one stream over a limit that the peer has acknowledged is refused alone`() {
        let peer = Self.full()
        #expect(peer.exchange(.request(7, end: true)) == [.reset(7, code: ErrorCode.refusedStream)])
        #expect(peer.recorder.headIDs == [1, 3, 5] && peer.session.openExchangeCount == 3)
        peer.session.exchange(3)?.respond(status: 200)
        #expect(peer.frames().map(\.stream) == [3])
        #expect(peer.exchange(.request(9, end: true)).isEmpty)
        #expect(peer.recorder.headIDs == [1, 3, 5, 9])
        #expect(peer.session.failure == nil)
    }

    @Test(arguments: [false, true])
    func `body and trailers of a refused stream are ignored`(beforeTheResetIsOut: Bool) {
        let peer = Self.full()
        peer.send(.request(7))
        if !beforeTheResetIsOut { #expect(peer.frames() == [.reset(7, code: ErrorCode.refusedStream)]) }
        peer.send(.data(7, [1, 2, 3]), .data(7, []), .headers(7, [("a", "b")], end: true), .windowUpdate(7, 1))
        #expect(peer.frames() == (beforeTheResetIsOut ? [.reset(7, code: ErrorCode.refusedStream)] : []))
        #expect(peer.recorder.headIDs == [1, 3, 5] && peer.recorder.requests.count == 3)
        #expect(peer.session.failure == nil)
    }

    @Test func `the fields of a refused stream still enter the HPACK table`() {
        let peer = Self.full()
        var paths: [String] = []
        peer.recorder.onRequest = { paths.append($0.fields.text($0.path)) }
        // The first stream adds a literal to the table, and the second refers to that entry (index 62).
        let indexed = [0x40] + HPACK.string(":path") + HPACK.string("/from/the/table")
        let pseudo = [(":method", "GET"), (":scheme", "https")].flatMap { HPACK.literal($0.0, $0.1) }
        let flags = Frame.endHeaders | Frame.endStream
        #expect(
            peer.exchange(Frame(type: Frame.Kind.headers, flags: flags, stream: 7, payload: pseudo + indexed))
                == [.reset(7, code: ErrorCode.refusedStream)])
        peer.session.exchange(1)?.respond(status: 200)
        #expect(peer.frames().map(\.stream) == [1])
        let block = pseudo + [0x80 | 62] + HPACK.literal(":authority", "a")
        _ = peer.exchange(Frame(type: Frame.Kind.headers, flags: flags, stream: 9, payload: block))
        #expect(paths == ["/from/the/table"])
    }

    @Test func `uploads on refused streams do not use up the connection's window`() {
        let peer = Self.full()
        var (sent, window) = (0, Int(HTTPBounds.connectionWindowByteCount))
        for index in 0..<Int32(HTTPBounds.sentResetCountMax) {
            let id = 7 + 2 * index
            var answer = peer.exchange(.request(id))
            for _ in 0..<3 { answer += peer.exchange(.data(id, [UInt8](repeating: 1, count: 16_000))) }
            sent += 48_000
            window += answer.filter { $0.type == Frame.Kind.windowUpdate && $0.stream == 0 }
                .reduce(0) { $0 + Int($1.number()) }
            #expect(sent < window)
        }
        #expect(sent > 4 * Int(HTTPBounds.connectionWindowByteCount))
        #expect(peer.session.failure == nil)
    }

    @Test(arguments: [(0, true), (1, false)])
    func `refusals to a peer that knows the limit are limited, even when it reads nothing`(excess: Int, goesOn: Bool) {
        let peer = Self.full()
        var bytes: [UInt8] = []
        for index in 0..<Int32(HTTPBounds.sentResetCountMax + excess) {
            bytes += Frame.request(7 + 2 * index, end: true).bytes
        }
        #expect(peer.send(bytes) == goesOn)
        #expect(Peer.goAwayCode(peer.frames()) == (goesOn ? nil : ErrorCode.enhanceYourCalm))
        #expect(peer.recorder.headIDs == [1, 3, 5])
    }

    @Test func `refusals at the steady rate are accepted without limit`() {
        let peer = Self.full()
        for index in 0..<Int32(500) {
            peer.wait(nanoseconds: 1_000_000_000 / Int64(HTTPBounds.sentResetCountPerSecond))
            let id = 7 + 2 * index
            #expect(peer.exchange(.request(id, end: true)) == [.reset(id, code: ErrorCode.refusedStream)])
        }
    }

    @Test func `early streams are accepted up to their limit and then refused, and the session continues`() {
        let peer = Peer(isGreeted: false)
        peer.recorder.onRequest = { _ in }
        var bytes = Peer.preface + Frame.settings().bytes
        for index in 0..<Int32(Self.early + 500) { bytes += Frame.request(index * 2 + 1, end: true).bytes }
        #expect(peer.send(bytes))
        let refused = peer.frames().filter { $0.type == Frame.Kind.reset }
        #expect(refused.count == 500 && refused.allSatisfy { $0.number() == ErrorCode.refusedStream })
        #expect(refused.first?.stream == Int32(Self.early) * 2 + 1)
        #expect(peer.recorder.headIDs.count == Self.early)
        for index in 0..<Int32(Self.early) { peer.session.exchange(index * 2 + 1)?.respond(status: 200) }
        #expect(peer.frames().count == Self.early)
        #expect(peer.session.failure == nil && peer.recorder.endedIDs.count == Self.early)
    }

    @Test func `early streams continue after the acknowledgement, and new ones wait until there is room`() {
        let peer = Peer(limits: Self.limits(3), isGreeted: false)
        peer.recorder.onRequest = { _ in }
        peer.send(Peer.preface + Frame.settings().bytes)
        for id in stride(from: Int32(1), through: 9, by: 2) { #expect(peer.send(.request(id, end: true))) }
        _ = peer.frames()
        #expect(peer.exchange(.settingsAcknowledgement, .request(11, end: true)).map(\.type) == [Frame.Kind.reset])
        for id: Int32 in [1, 3] { peer.session.exchange(id)?.respond(status: 200) }
        #expect(peer.frames().count == 2)
        #expect(peer.exchange(.request(13, end: true)) == [.reset(13, code: ErrorCode.refusedStream)])
        peer.session.exchange(5)?.respond(status: 200)
        #expect(peer.frames().map(\.stream) == [5])
        #expect(peer.exchange(.request(15, end: true)).isEmpty)
        #expect(peer.recorder.headIDs == [1, 3, 5, 7, 9, 15])
    }

    @Test func `endless refusals are punished even before the peer knows the limit`() {
        let peer = Peer(limits: Self.limits(1), isGreeted: false)
        peer.recorder.onRequest = { _ in }
        peer.send(Peer.preface + Frame.settings().bytes)
        var count = 0
        while count < 5000, peer.send(.request(Int32(count) * 2 + 1, end: true)) {
            _ = peer.frames()
            count += 1
        }
        // Some streams are served, the next refusals cost no token, and later ones empty the bucket.
        #expect(count == Self.early + HTTPBounds.earlyRefusalCountMax + HTTPBounds.sentResetCountMax)
        #expect(Peer.goAwayCode(peer.frames()) == ErrorCode.enhanceYourCalm)
        #expect(peer.session.isFinished)
    }

    @Test func `a limit of one stream applies once the peer has read it, and a second SETTINGS frame raises it`() {
        let peer = Peer(limits: Self.limits(3, advertised: 1), isGreeted: false, isStranger: true)
        peer.recorder.onRequest = { _ in }
        peer.send(Peer.preface + Frame.settings().bytes)
        #expect(Self.advertised(peer.frames()) == [1])
        // A client sends its burst before it has read SETTINGS, acknowledges them, and continues.
        #expect(peer.exchange(.request(1, end: true), .request(3, end: true)).isEmpty)
        #expect(
            peer.exchange(.settingsAcknowledgement, .request(5, end: true)) == [
                .reset(5, code: ErrorCode.refusedStream)
            ])
        peer.session.advertiseStreams(3)
        peer.session.advertiseStreams(3)
        #expect(Self.advertised(peer.frames()) == [3])
        #expect(peer.exchange(.request(7, end: true)).isEmpty)
        for id: Int32 in [1, 3, 7] { peer.session.exchange(id)?.respond(status: 200) }
        #expect(peer.frames().map(\.endsStream) == [true, true, true])
        #expect(peer.exchange(.settingsAcknowledgement).isEmpty)
        #expect(peer.session.failure == nil)
        // Both SETTINGS frames are acknowledged, so a third acknowledgement matches nothing.
        #expect(Peer.goAwayCode(peer.exchange(.settingsAcknowledgement)) == ErrorCode.protocolError)
    }

    @Test(arguments: [false, true])
    func `an unauthenticated peer has a hundred streams until its owner allows more`(acknowledges: Bool) {
        let peer = Peer(isGreeted: acknowledges, isStranger: true)
        peer.recorder.onRequest = { _ in }
        if !acknowledges { peer.send(Peer.preface + Frame.settings().bytes) }
        var bytes: [UInt8] = []
        for index in 0..<Int32(500) { bytes += Frame.request(index * 2 + 1).bytes }
        #expect(peer.send(bytes))
        let refused = peer.frames().filter { $0.type == Frame.Kind.reset }
        #expect(refused.count == 400 && refused.allSatisfy { $0.number() == ErrorCode.refusedStream })
        #expect(peer.session.openExchangeCount == HTTPBounds.streamCountBeforeAuthentication)
        peer.session.advertiseStreams(1000)
        for index in 500..<Int32(1400) { #expect(peer.send(.request(index * 2 + 1, end: true))) }
        #expect(peer.frames().isEmpty && peer.session.openExchangeCount == 1000)
    }

    @Test func `streams after the one that authenticates, in the same bytes, are not refused`() {
        let peer = Peer(isGreeted: false, isStranger: true)
        peer.recorder.onRequest = { exchange in
            if exchange.id == 1 { peer.session.advertiseStreams(1000) }
        }
        var bytes = Peer.preface + Frame.settings().bytes
        for index in 0..<Int32(500) { bytes += Frame.request(index * 2 + 1, end: true).bytes }
        #expect(peer.send(bytes))
        #expect(peer.session.openExchangeCount == 500 && !peer.frames().contains { $0.type == Frame.Kind.reset })
    }

    @Test func `the first acknowledgement ends the tolerance for early streams`() {
        let peer = Peer(limits: Self.limits(1, advertised: 1), isGreeted: false)
        peer.recorder.onRequest = { _ in }
        peer.send(Peer.preface + Frame.settings().bytes)
        peer.session.advertiseStreams(2)
        _ = peer.frames()
        #expect(peer.exchange(.request(1, end: true), .request(3, end: true)).isEmpty)
        #expect(peer.exchange(.settingsAcknowledgement, .request(5, end: true)).map(\.type) == [Frame.Kind.reset])
        #expect(peer.exchange(.settingsAcknowledgement, .request(7, end: true)).map(\.type) == [Frame.Kind.reset])
        #expect(peer.session.failure == nil)
    }

    @Test func `a session that has ended does not raise its stream limit`() {
        let peer = Peer(limits: Self.limits(3, advertised: 1))
        #expect(Peer.goAwayCode(peer.exchange(.data(0, [1]))) == ErrorCode.protocolError)
        peer.session.advertiseStreams(3)
        #expect(!peer.session.hasOutput)
    }
}
