// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import TestSupport
import Testing

struct HTTP2ShutdownTests {
    private static let reason = Array(#"{"reason":"Shutdown"}"#.utf8)

    @Test func `the first GOAWAY allows every stream and carries the reason, the second names the last stream`() {
        let peer = Peer()
        peer.recorder.onRequest = { _ in }
        peer.send(.request(1, end: true))
        peer.session.announceShutdown(debugData: Self.reason)
        peer.session.announceShutdown(debugData: Self.reason)
        let notice = peer.frames()
        #expect(notice.map(\.type) == [Frame.Kind.goAway])
        #expect(notice[0].number() == 0x7FFF_FFFF && notice[0].number(at: 4) == ErrorCode.none)
        #expect(Array(notice[0].payload[8...]) == Self.reason)
        // A stream that crossed the first GOAWAY on the wire is served.
        peer.send(.request(3, end: true))
        #expect(peer.recorder.headIDs == [1, 3])
        for id: Int32 in [1, 3] { peer.session.exchange(id)?.respond(status: 200) }
        #expect(peer.frames().map(\.stream) == [1, 3])
        #expect(!peer.session.isFinished)
        peer.session.finishShutdown(debugData: Self.reason)
        peer.session.finishShutdown(debugData: Self.reason)
        let end = peer.frames()
        #expect(end.map(\.type) == [Frame.Kind.goAway])
        #expect(end[0].number() == 3 && end[0].number(at: 4) == ErrorCode.none)
        #expect(Array(end[0].payload[8...]) == Self.reason)
        #expect(peer.session.isFinished && peer.session.failure == nil)
    }

    @Test func `streams after the second GOAWAY are ignored, and open ones are answered first`() {
        let peer = Peer()
        peer.recorder.onRequest = { _ in }
        peer.send(.request(1, end: true))
        peer.session.finishShutdown(debugData: [])
        #expect(peer.frames().map(\.type) == [Frame.Kind.goAway])
        #expect(peer.send(.request(3), .data(3, [1, 2]), .data(3, [], end: true), .request(5, end: true)))
        #expect(peer.frames().isEmpty && peer.recorder.headIDs == [1])
        #expect(!peer.session.isFinished && peer.session.failure == nil)
        peer.session.exchange(1)?.respond(status: 200)
        #expect(!peer.session.isFinished)
        #expect(peer.frames().map(\.stream) == [1])
        #expect(peer.session.isFinished)
    }

    @Test func `a stream that arrives before the second GOAWAY is sent is not processed`() {
        let peer = Peer()
        peer.recorder.onRequest = { _ in }
        peer.send(.request(1, end: true))
        peer.session.finishShutdown(debugData: [])
        #expect(peer.send(.request(3, end: true), .request(5), .data(5, [1, 2], end: true)))
        #expect(peer.recorder.headIDs == [1])
        let frames = peer.frames()
        #expect(frames.first?.type == Frame.Kind.goAway && frames.first?.number() == 1)
        #expect(frames.dropFirst().allSatisfy { $0.type == Frame.Kind.reset && $0.number() == ErrorCode.refusedStream })
        peer.session.exchange(1)?.respond(status: 200)
        #expect(peer.frames().map(\.stream) == [1])
        #expect(peer.session.isFinished && peer.session.failure == nil)
    }

    @Test func `a GOAWAY before the first output follows the settings`() {
        let peer = Peer(isGreeted: false)
        peer.session.announceShutdown(debugData: [])
        peer.session.finishShutdown(debugData: [])
        let types = peer.frames().map(\.type)
        #expect(types.first == Frame.Kind.settings)
        #expect(types.filter { $0 == Frame.Kind.goAway }.count == 2)
        #expect(peer.session.isFinished)
    }

    @Test(arguments: [1023, 1024, 1025])
    func `debug data is cut at its limit`(byteCount: Int) {
        let peer = Peer()
        peer.session.announceShutdown(debugData: [UInt8](repeating: 1, count: byteCount))
        peer.session.finishShutdown(debugData: [UInt8](repeating: 1, count: byteCount))
        let kept = min(byteCount, HTTPBounds.debugDataByteCountMax)
        #expect(peer.frames().map(\.payload.count) == [8 + kept, 8 + kept])
    }

    @Test func `a peer that sends GOAWAY is served to the end`() {
        let peer = Peer()
        peer.recorder.onRequest = { _ in }
        let goodbye = Frame(type: Frame.Kind.goAway, payload: [0, 0, 0, 0, 0, 0, 0, 0])
        #expect(peer.send(.request(1, end: true), goodbye))
        #expect(!peer.session.isFinished)
        peer.session.exchange(1)?.respond(status: 200)
        #expect(peer.frames().map(\.stream) == [1])
        #expect(peer.session.isFinished)
    }
}
