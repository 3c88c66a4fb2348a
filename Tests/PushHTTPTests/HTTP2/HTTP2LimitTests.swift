// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import TestSupport
import PushNet
import Testing

/// A kind of frame that is cheap for its sender.
struct Glitch: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var frame: Frame
    var price: Int

    /// Frames that no peer may send.
    static let broken: [Frame] = [
        Frame(type: Frame.Kind.reset, stream: 1, payload: [0]), Frame(type: Frame.Kind.ping, payload: [1]),
        Frame(type: Frame.Kind.settings, payload: [1]), Frame(type: Frame.Kind.goAway, payload: []),
        Frame(type: Frame.Kind.data, stream: 0, payload: [1]), .headers(1, [("", "")]),
    ]

    static let all = [
        Glitch(testDescription: "PING", frame: .ping(), price: HTTPBounds.glitchesPerPing),
        Glitch(testDescription: "SETTINGS", frame: .settings(), price: HTTPBounds.glitchesPerSettings),
        Glitch(testDescription: "empty DATA", frame: .data(1, []), price: HTTPBounds.glitchesPerEmptyData),
        Glitch(
            testDescription: "padding", frame: Frame(type: 0, flags: Frame.padded, stream: 1, payload: [1, 0]),
            price: HTTPBounds.glitchesPerOtherFrame),
        Glitch(
            testDescription: "WINDOW_UPDATE", frame: .windowUpdate(0, 1), price: HTTPBounds.glitchesPerOtherFrame),
        Glitch(
            testDescription: "PRIORITY",
            frame: Frame(type: Frame.Kind.priority, stream: 1, payload: [0, 0, 0, 0, 1]),
            price: HTTPBounds.glitchesPerOtherFrame),
        Glitch(
            testDescription: "unknown type", frame: Frame(type: 0xBB, flags: 0xFF, payload: [1, 2, 3]),
            price: HTTPBounds.glitchesPerOtherFrame),
        Glitch(
            testDescription: "WINDOW_UPDATE of a closed stream", frame: .windowUpdate(3, 1),
            price: HTTPBounds.glitchesPerOtherFrame),
    ]
}

struct HTTP2LimitTests {
    /// Returns a session with one open and one closed stream and a full token bucket.
    private static func prepared() -> Peer {
        let peer = Peer()
        peer.recorder.onRequest = { $0.respond(status: 200) }
        _ = peer.exchange(.request(1), .request(3, end: true))
        // Two requests earn these two WINDOW_UPDATE frames.
        _ = peer.exchange(.windowUpdate(0, 1), .windowUpdate(0, 1))
        peer.wait(seconds: 60)
        return peer
    }

    @Test func `glitches and the limit that they reach are counted`() {
        let peer = Self.prepared()
        let metrics = peer.session.peerLimits.metrics
        let earlier = metrics.glitches.value
        _ = peer.send(.ping())
        #expect(metrics.glitches.value == earlier + Int64(HTTPBounds.glitchesPerPing))
        #expect(HTTP2Metrics.Limit.allCases.allSatisfy { metrics.count(of: $0) == 0 })
        for _ in 0...HTTPBounds.glitchCountMax where peer.send(.ping()) { _ = peer.frames() }
        #expect(HTTP2Metrics.Limit.allCases.filter { metrics.count(of: $0) == 1 } == [.glitches])
    }

    @Test(arguments: Glitch.all)
    func `a burst of cheap frames is accepted up to the limit and no further`(glitch: Glitch) {
        let peer = Self.prepared()
        for _ in 0..<HTTPBounds.glitchCountMax / glitch.price {
            #expect(peer.send(glitch.frame))
            _ = peer.frames()
        }
        #expect(!peer.send(glitch.frame))
        #expect(Peer.goAwayCode(peer.frames()) == ErrorCode.enhanceYourCalm)
        #expect(peer.session.failure != nil && peer.session.isFinished)
        #expect(!peer.send(.request(5, end: true)))
        #expect(peer.recorder.headIDs == [1, 3])
    }

    @Test func `a client may widen the window of every stream that it opens, without limit`() {
        let peer = Peer()
        peer.recorder.onRequest = { $0.respond(status: 200) }
        for index in 0..<Int32(HTTPBounds.glitchCountMax * 3) {
            let id = index * 2 + 1
            #expect(peer.send(.request(id), .windowUpdate(id, 1 << 24), .data(id, [1], end: true)))
            _ = peer.frames()
        }
        #expect(peer.session.failure == nil)
    }

    @Test(arguments: Glitch.all)
    func `cheap frames at the steady rate are accepted without limit`(glitch: Glitch) {
        let peer = Self.prepared()
        for _ in 0..<5 * HTTPBounds.glitchCountMax / glitch.price {
            peer.wait(nanoseconds: 1_000_000_000 / Int64(HTTPBounds.glitchCountPerSecond / glitch.price))
            #expect(peer.send(glitch.frame))
            _ = peer.frames()
        }
        #expect(peer.session.failure == nil)
    }

    @Test(arguments: Glitch.all)
    func `a malformed frame after the one that exceeds the limit does not crash the session`(glitch: Glitch) {
        for frame in Glitch.broken {
            let peer = Self.prepared()
            let flood = [[UInt8]](repeating: glitch.frame.bytes, count: HTTPBounds.glitchCountMax / glitch.price + 2)
            #expect(!peer.send(flood.flatMap(\.self) + frame.bytes))
            #expect(!peer.send(frame))
            #expect(Peer.goAwayCode(peer.frames()) == ErrorCode.enhanceYourCalm)
        }
    }

    @Test func `resets that the peer provokes are limited, whatever follows in the same bytes`() {
        let peer = Peer()
        func resetting(_ id: Int32) -> [UInt8] {
            Frame.request(id, fields: [("content-length", "5")]).bytes + Frame.data(id, [1], end: true).bytes
        }
        for index in 0..<Int32(HTTPBounds.sentResetCountMax) {
            #expect(peer.send(resetting(index * 2 + 1)))
            #expect(peer.frames().map(\.type) == [Frame.Kind.reset])
        }
        let last = Int32(HTTPBounds.sentResetCountMax) * 2 + 1
        peer.send(resetting(last) + resetting(last + 2) + Frame(type: Frame.Kind.reset, payload: [0]).bytes)
        #expect(Peer.goAwayCode(peer.frames()) != nil)
        #expect(!peer.send(.ping()))
        #expect(peer.session.failure != nil && peer.session.isFinished)
    }

    @Test func `provoked resets at the steady rate are accepted without limit`() {
        let peer = Peer()
        for index in 0..<Int32(500) {
            peer.wait(nanoseconds: 1_000_000_000 / Int64(HTTPBounds.sentResetCountPerSecond))
            let id = index * 2 + 1
            let answer = peer.exchange(.request(id, fields: [("content-length", "5")]), .data(id, [1], end: true))
            #expect(answer == [.reset(id, code: ErrorCode.protocolError)])
        }
    }

    @Test func `our resets without an error are not counted`() {
        let peer = Peer()
        peer.recorder.onHead = { $0.respond(status: 413) }
        for index in 0..<Int32(HTTPBounds.sentResetCountMax * 3) {
            let types = peer.exchange(.request(index * 2 + 1)).map(\.type)
            let isDrained = Int(index) < HTTPBounds.drainedStreamCountMax
            #expect(types == [Frame.Kind.headers, isDrained ? Frame.Kind.ping : Frame.Kind.reset])
        }
        #expect(peer.session.failure == nil)
    }

    @Test func `a rapid reset ends the session`() {
        let peer = Peer()
        peer.recorder.onRequest = { _ in }
        var count = 0
        var id: Int32 = 1
        while count < 2000, peer.send(.request(id, end: true), .reset(id)) {
            _ = peer.frames()
            (count, id) = (count + 1, id + 2)
        }
        // nghttp2 refills its own bucket by its own clock during the test.
        #expect(count >= Int(HTTPBounds.receivedResetCountMax) - 1 && count < 1000)
        #expect(peer.recorder.headIDs == peer.recorder.endedIDs)
    }

    @Test(arguments: Glitch.broken)
    func `a malformed frame after a rapid reset or a flood of resets does not crash the session`(frame: Frame) {
        let rapid = Peer()
        var bytes: [UInt8] = []
        for index in 0..<Int32(600) { bytes += Frame.request(index * 2 + 1).bytes + Frame.reset(index * 2 + 1).bytes }
        rapid.send(bytes + frame.bytes + Frame.ping().bytes)
        #expect(Peer.goAwayCode(rapid.frames()) != nil && rapid.session.isFinished)
        #expect(!rapid.send(frame))
        let made = Peer()
        bytes = []
        for index in 0..<Int32(600) {
            let id = index * 2 + 1
            bytes += Frame.request(id, fields: [("content-length", "5")]).bytes + Frame.data(id, [1], end: true).bytes
        }
        made.send(bytes + frame.bytes + Frame.ping().bytes)
        #expect(Peer.goAwayCode(made.frames()) != nil && made.session.isFinished)
        #expect(!made.send(frame))
    }

    @Test func `a clock that goes backward refills no bucket`() {
        let peer = Self.prepared()
        let count = HTTPBounds.glitchCountMax / HTTPBounds.glitchesPerPing
        for _ in 0..<count { #expect(peer.exchange(.ping()).count == 1) }
        peer.session.now = .past
        #expect(!peer.send(.ping()))
    }

    @Test(arguments: [(0, true), (1, false)])
    func `answers to PING that the peer does not read are limited`(excess: Int, goesOn: Bool) {
        let peer = Peer()
        // From the first request on, nghttp2 answers.
        _ = peer.exchange(.request(1, end: true))
        let count = HTTPBounds.unsentAcknowledgementCountMax + excess
        #expect(peer.send([[UInt8]](repeating: Frame.ping().bytes, count: count).flatMap(\.self)) == goesOn)
        #expect(Peer.goAwayCode(peer.frames()) == (goesOn ? nil : ErrorCode.enhanceYourCalm))
    }

    @Test func `a header block in too many frames ends the session`() {
        let peer = Peer()
        let head = Frame(type: Frame.Kind.headers, stream: 1, payload: HPACK.literal(":method", "POST"))
        let more = Frame(type: Frame.Kind.continuation, stream: 1, payload: HPACK.literal("a", "b"))
        let flood = [[UInt8]](repeating: more.bytes, count: HTTPBounds.continuationCountMax + 1).flatMap(\.self)
        #expect(!peer.send(head.bytes + flood))
        #expect(Peer.goAwayCode(peer.frames()) == ErrorCode.enhanceYourCalm)
        #expect(peer.recorder.headIDs.isEmpty)
    }

    @Test(arguments: [
        (Frame(type: Frame.Kind.ping, payload: [1]), ErrorCode.frameSizeError),
        (Frame(type: Frame.Kind.settings, stream: 1), ErrorCode.protocolError),
        (.windowUpdate(0, 0), ErrorCode.protocolError), (.windowUpdate(0, 0x7FFF_FFFF), ErrorCode.flowControlError),
        (.data(0, [1]), ErrorCode.protocolError), (.request(2, end: true), ErrorCode.protocolError),
        (Frame(type: Frame.Kind.continuation, flags: Frame.endHeaders, stream: 1), ErrorCode.protocolError),
        (
            Frame(type: Frame.Kind.headers, flags: Frame.endHeaders, stream: 5, payload: [0xFF, 0xFF]),
            ErrorCode.compressionError
        ),
        (
            Frame(type: Frame.Kind.data, stream: 1, payload: [UInt8](repeating: 0, count: 16_385)),
            ErrorCode.frameSizeError
        ),
    ])
    func `a frame that violates the protocol ends the session with its error code`(frame: Frame, code: UInt32) {
        let peer = Peer()
        peer.recorder.onRequest = { _ in }
        peer.send(.request(1), .request(3, end: true))
        #expect(Peer.goAwayCode(peer.exchange(frame)) == code)
        #expect(peer.session.failure != nil && peer.session.isFinished)
        #expect(!peer.send(.ping()))
        peer.session.close()
        #expect(peer.recorder.endedIDs.sorted() == [1, 3])
    }

    @Test func `a connection that does not start with the preface is refused`() {
        let peer = Peer(isGreeted: false)
        #expect(!peer.send(Array("GET / HTTP/1.1\r\nhost: a\r\n\r\n".utf8)))
        #expect(Peer.goAwayCode(peer.frames()) == ErrorCode.protocolError)
        #expect(peer.session.isFinished)
    }

    static func limits(streams: Int = 1000, headerBytes: Int = 16_384, fields: Int = 64) -> HTTPSessionLimits {
        HTTPSessionLimits(
            concurrentStreamCountMax: streams, headerListByteCountMax: headerBytes,
            advertisedHeaderListByteCountMax: 8000, headerFieldCountMax: fields)
    }
}
