// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import PushHTTP

/// Compares sessions that answer the first frames of a connection themselves with sessions that leave them to nghttp2.
struct HTTP2OpeningTests {
    /// Returns a peer without greeting; an eager one has an nghttp2 session from the beginning.
    private static func peer(isEager: Bool, isStranger: Bool = true) -> Peer {
        let peer = Peer(isGreeted: false, isStranger: isStranger)
        if isEager { _ = unsafe peer.session.handle }
        return peer
    }

    private static func usesNGHTTP2(_ peer: Peer) -> Bool { unsafe peer.session.engine != nil }

    /// Encodes frames in an order that does not depend on the order of sending.
    private static func sorted(_ frames: [Frame]) -> [[UInt8]] {
        frames.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Frames that many clients begin with.
    private static let greeting: [Frame] = [
        .settings([(id: 1, value: 4096), (id: 2, value: 0), (id: 4, value: 1 << 20), (id: 5, value: 16_384)]),
        .windowUpdate(0, 1 << 20), .settingsAcknowledgement, .ping(),
    ]

    @Test func `a connection without streams has no nghttp2 session, and its frames are answered`() {
        let peer = Self.peer(isEager: false)
        #expect(peer.frames().map(\.type) == [Frame.Kind.settings, Frame.Kind.windowUpdate])
        peer.send(Peer.preface + Self.greeting.flatMap(\.bytes))
        let frames = peer.frames()
        #expect(frames == [.settingsAcknowledgement, .ping(flags: Frame.acknowledge)])
        #expect(!Self.usesNGHTTP2(peer) && !peer.session.isFinished && peer.session.failure == nil)

        let answer = peer.exchange(.request(1, end: true))
        #expect(answer.first?.type == Frame.Kind.headers && peer.recorder.requests.count == 1)
        #expect(Self.usesNGHTTP2(peer))
    }

    @Test(arguments: [
        Frame.settings([(id: 2, value: 2)]), .settings([(id: 4, value: 1 << 31)]), .settings([(id: 5, value: 100)]),
        .settings([(id: 8, value: 2)]), Frame(type: Frame.Kind.settings, payload: [0, 1, 0]),
        Frame(type: Frame.Kind.settings, stream: 1), Frame(type: Frame.Kind.settings, flags: 1, payload: [0]),
        .windowUpdate(0, 0), .windowUpdate(0, 0x7FFF_FFFF), .ping([1]), .data(1, [1]), .reset(1),
        Frame(type: Frame.Kind.goAway, payload: [UInt8](repeating: 0, count: 8)), .settingsAcknowledgement,
        Frame(type: 99, payload: [1]), .windowUpdate(1, 5), Frame(type: Frame.Kind.ping, stream: 1),
    ])
    func `an invalid or unusual frame has the same effect as with nghttp2 from the beginning`(frame: Frame) {
        let effects = [true, false].map { isEager in
            let peer = Self.peer(isEager: isEager)
            var frames = peer.frames()
            for bytes in [Peer.preface, Frame.settings().bytes, frame.bytes, frame.bytes] {
                peer.send(bytes)
                frames += peer.frames()
            }
            return (Self.sorted(frames), peer.session.isFinished, peer.session.failure)
        }
        #expect(effects[0].0 == effects[1].0)
        #expect(effects[0].1 == effects[1].1 && effects[0].2 == effects[1].2)
    }

    @Test(arguments: ["", "PRI", "GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r"])
    func `an invalid preface has the same effect as with nghttp2 from the beginning`(text: String) {
        let effects = [true, false].map { isEager in
            let peer = Self.peer(isEager: isEager)
            let isOpen = peer.send(Array(text.utf8))
            return (isOpen, Self.sorted(peer.frames()), peer.session.isFinished)
        }
        #expect(effects[0] == effects[1])
    }

    @Test(arguments: 0..<UInt64(Patience.caseCount))
    func `first frames in any order and any pieces have the same effect as with nghttp2`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var frames: [Frame] = []
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            let kind = Int.random(in: 0..<12, using: &generator)
            switch kind {
            case 0..<4: frames.append(Self.greeting[kind])
            case 4: frames.append(.ping((0..<8).map { _ in UInt8.random(in: 0...255, using: &generator) }))
            case 5: frames.append(.windowUpdate(0, UInt32.random(in: 0...0x7FFF_FFFF, using: &generator)))
            case 6: frames.append(.request(1, end: true))
            case 7: frames.append(Frame(type: Frame.Kind.priority, stream: 3, payload: [0, 0, 0, 0, 1]))
            default: frames.append(.settings())
            }
        }
        let bytes = Peer.preface + frames.flatMap(\.bytes) + Frame.request(5, end: true).bytes
        var pieces: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...40, using: &generator)
            pieces.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        let (eager, lazy) = (Self.peer(isEager: true), Self.peer(isEager: false))
        // Both have sent their first frames.
        #expect(Self.sorted(eager.frames()) == Self.sorted(lazy.frames()), "seed \(seed)")
        for piece in pieces {
            let isOpen = (eager.send(Array(piece)), lazy.send(Array(piece)))
            #expect(isOpen.0 == isOpen.1, "seed \(seed)")
            #expect(Self.sorted(eager.frames()) == Self.sorted(lazy.frames()), "seed \(seed)")
        }
        #expect(eager.recorder.headIDs == lazy.recorder.headIDs, "seed \(seed)")
        #expect(eager.session.failure == lazy.session.failure, "seed \(seed)")
        #expect(eager.session.completedMessageCount == lazy.session.completedMessageCount, "seed \(seed)")
    }

    @Test func `many PINGs or a long SETTINGS frame end the answers without nghttp2`() {
        let peer = Self.peer(isEager: false)
        peer.send(Peer.preface + Frame.settings().bytes)
        _ = peer.frames()
        for index in 0...HTTPBounds.openingPingCountMax {
            #expect(peer.exchange(.ping()) == [.ping(flags: Frame.acknowledge)])
            #expect(Self.usesNGHTTP2(peer) == (index == HTTPBounds.openingPingCountMax))
        }
        let other = Self.peer(isEager: false)
        let entries = (0..<33).map { _ in (id: UInt16(1), value: UInt32(4096)) }
        other.send(Peer.preface + Frame.settings(entries).bytes)
        #expect(Self.usesNGHTTP2(other))
    }

    @Test func `a shutdown before the first stream sends GOAWAY after the first frames`() {
        for isAnnounced in [true, false] {
            let peer = Self.peer(isEager: false)
            peer.send(Peer.preface + Frame.settings().bytes)
            if isAnnounced { peer.session.announceShutdown(debugData: []) }
            peer.session.finishShutdown(debugData: Array("why".utf8))
            let frames = peer.frames()
            #expect(
                frames.prefix(3).map(\.type) == [Frame.Kind.settings, Frame.Kind.windowUpdate, Frame.Kind.settings])
            #expect(frames.dropFirst(3).map(\.type) == Array(repeating: Frame.Kind.goAway, count: isAnnounced ? 2 : 1))
            #expect(frames.last?.payload.suffix(3) == Array("why".utf8)[...])
            #expect(peer.session.isFinished)
        }
    }

    @Test func `a peer that authenticated before its first byte gets one SETTINGS frame with its limit`() {
        let peer = Self.peer(isEager: false)
        peer.session.advertiseStreams(777)
        let frames = peer.frames()
        #expect(frames.map(\.type) == [Frame.Kind.settings, Frame.Kind.windowUpdate])
        #expect(frames[0].payload.suffix(10).prefix(4) == Frame.bigEndian(777)[...])
        peer.session.advertiseStreams(778)
        #expect(peer.frames().map(\.type) == [Frame.Kind.settings])
    }
}
