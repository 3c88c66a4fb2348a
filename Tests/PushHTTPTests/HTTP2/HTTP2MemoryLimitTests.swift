// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import TestSupport
import Testing

/// Checks the memory that a session holds for a peer, and its behavior over the budget.
struct HTTP2MemoryLimitTests {
    private static let strangerByteCountMax = 256 * 1024
    private static let flags = Frame.endHeaders
    private static let pseudo = [
        (":method", "POST"), (":scheme", "https"), (":path", "/3/device/00"), (":authority", "a"),
    ]
    /// Two fields of 1.9 KB for the HPACK table, of which the one that is sent last gets index 62.
    private static let table: [UInt8] = ["x-a", "x-b"].flatMap { (name: String) -> [UInt8] in
        [0x40] + HPACK.string(name) + HPACK.string(String(repeating: "a", count: 1900))
    }

    /// Returns an unauthenticated peer whose requests are never answered.
    private static func stranger(_ recorder: Recorder = Recorder()) -> Peer {
        let peer = Peer(recorder, isStranger: true)
        peer.recorder.onRequest = { _ in }
        peer.session.retainedByteCountMax = strangerByteCountMax
        return peer
    }

    private static func head(_ id: Int32, _ block: [UInt8]) -> [UInt8] {
        Frame(type: Frame.Kind.headers, flags: flags, stream: id, payload: block).bytes
    }

    /// Opens streams that refer to each table entry twice, without END_STREAM.
    ///
    /// - Parameters:
    ///   - peer: The peer.
    ///   - count: The number of streams.
    ///   - reads: Whether the peer reads the session's output in between.
    /// - Returns: The maximum number of bytes held, and the received frames.
    private static func reference(_ peer: Peer, count: Int32, reads: Bool) -> (most: Int, frames: [Frame]) {
        let block = pseudo.flatMap { HPACK.literal($0.0, $0.1) }
        var (most, frames) = (0, [Frame]())
        for index in 0..<count {
            let names: [UInt8] = [0x80 | 62, 0x80 | 63, 0x80 | 62, 0x80 | 63]
            peer.send(head(1 + 2 * index, block + (index == 0 ? table : names)))
            most = max(most, peer.session.retainedByteCount)
            if reads { frames += peer.frames() }
        }
        return (most, frames)
    }

    @Test func `references into the table hold no more than the budget, and further ones are refused`() {
        let peer = Self.stranger()
        let (most, frames) = Self.reference(peer, count: 1000, reads: true)
        #expect(most <= Self.strangerByteCountMax)
        let refused = frames.filter { $0.type == Frame.Kind.reset }
        #expect(refused.count + peer.session.openExchangeCount == 1000)
        #expect(refused.allSatisfy { $0.number() == ErrorCode.refusedStream })
        #expect(peer.session.openExchangeCount < HTTPBounds.streamCountBeforeAuthentication)
        #expect(peer.session.failure == nil)
        // The connection stays usable. Refused requests succeed once streams end and the peer has authenticated.
        peer.session.advertiseStreams(1000)
        peer.session.retainedByteCountMax = HTTPBounds.retainedByteCountMax
        peer.recorder.onRequest = { $0.respond(status: 200) }
        for exchange in peer.session.openExchanges { peer.send(.reset(exchange.id)) }
        #expect(peer.session.openExchangeCount == 0)
        for id in stride(from: Int32(3001), to: 3201, by: 2) {
            #expect(peer.exchange(.request(id, end: true)).map(\.type) == [Frame.Kind.headers])
        }
    }

    @Test func `a peer that continues after many refusals loses its connection`() {
        let peer = Self.stranger()
        let (most, frames) = Self.reference(peer, count: 2000, reads: true)
        #expect(most <= Self.strangerByteCountMax)
        #expect(Peer.goAwayCode(frames) == ErrorCode.enhanceYourCalm)
        #expect(peer.session.isFinished)
    }

    @Test func `a peer that reads none of its refusals loses its connection before it holds twice the budget`() {
        let peer = Self.stranger()
        let most = Self.reference(peer, count: 2000, reads: false).most
        #expect(most <= HTTPBounds.overfullFactor * Self.strangerByteCountMax + 16_384)
        #expect(Peer.goAwayCode(peer.frames()) == ErrorCode.enhanceYourCalm)
    }

    @Test func `bodies of many streams stay within the budget, and those that do not fit may be retried`() {
        let peer = Self.stranger()
        peer.recorder.bodyByteCountMax = 65_536
        var most = 0
        let piece = [UInt8](repeating: 1, count: 8192)
        for round in 0..<7 {
            for index in 0..<Int32(50) {
                if round == 0 { peer.send(.request(2 * index + 1)) }
                peer.send(.data(2 * index + 1, piece))
                _ = peer.frames()
                most = max(most, peer.session.retainedByteCount)
            }
        }
        #expect(most <= Self.strangerByteCountMax)
        #expect(peer.session.openExchangeCount > 0 && peer.session.openExchangeCount < 50)
        #expect(peer.recorder.requests.isEmpty && peer.session.failure == nil)
        #expect(peer.recorder.endedIDs.count == peer.recorder.headIDs.count - peer.session.openExchangeCount)
        #expect(!peer.recorder.endedIDs.isEmpty)
    }

    @Test func `a hundred heads and payloads of usual size fit into a stranger's budget`() {
        let peer = Self.stranger()
        let token = String(repeating: "t", count: 250)
        let fields = [
            ("authorization", "bearer " + token), ("apns-topic", "org.example.Mail"), ("apns-push-type", "alert"),
            ("apns-priority", "10"), ("apns-expiration", "0"), ("content-type", "application/json"),
            ("content-length", "20"), ("user-agent", "Go-http-client/2.0"),
        ]
        for index in 0..<Int32(100) {
            peer.send(.request(2 * index + 1, path: "/3/device/" + token.prefix(64), fields: fields))
        }
        #expect(peer.session.openExchangeCount == 100 && peer.frames().isEmpty)
        #expect(peer.session.retainedByteCount <= Self.strangerByteCountMax)
    }

    @Test func `answers that the peer does not read end the session before twice the budget`() {
        let peer = Self.stranger()
        _ = peer.exchange(.settings([(id: 4, value: 0)]))
        for index in 0..<Int32(50) { peer.send(.request(2 * index + 1, end: true)) }
        for exchange in peer.session.openExchanges {
            exchange.respond(status: 200, body: [UInt8](repeating: 1, count: 50_000))
            #expect(peer.session.retainedByteCount <= HTTPBounds.overfullFactor * Self.strangerByteCountMax + 60_000)
        }
        #expect(Peer.goAwayCode(peer.frames()) == ErrorCode.enhanceYourCalm)
        #expect(peer.session.failure != nil)
    }

    @Test func `retained bytes are counted exactly, and are zero in the end`() {
        let peer = Peer()
        let base = peer.session.retainedByteCount
        peer.recorder.onRequest = { _ in }
        for index in 0..<Int32(100) {
            peer.send(.request(2 * index + 1), .data(2 * index + 1, [1, 2, 3], end: index % 2 == 0))
        }
        let open = peer.session.retainedByteCount
        #expect(open > base + 100 * HTTPBounds.exchangeByteCount)
        for exchange in peer.session.openExchanges {
            exchange.beginStream(status: 200)
            exchange.send([UInt8](repeating: 1, count: 500))
        }
        #expect(peer.session.retainedByteCount >= open + 50_000)
        _ = peer.frames()
        for exchange in peer.session.openExchanges { exchange.endStream() }
        _ = peer.frames()
        for index in 0..<Int32(100) where index % 2 == 1 { peer.send(.reset(2 * index + 1)) }
        _ = peer.frames()
        #expect(peer.session.openExchangeCount == 0)
        // After two ticks without a frame the session frees its spare buffers.
        peer.session.tick()
        peer.session.tick()
        #expect(peer.session.retainedByteCount <= base + 8192, "nghttp2 keeps its table of streams")
        peer.session.close()
        #expect(peer.session.retainedByteCount <= base + 8192)
    }

    @Test func `spare buffers stay within their share of the budget`() {
        let peer = Self.stranger()
        let field = ("x-long", String(repeating: "x", count: 3000))
        peer.recorder.onRequest = { $0.respond(status: 200) }
        for index in 0..<Int32(100) { peer.send(.request(2 * index + 1, fields: [field])) }
        for index in 0..<Int32(100) { peer.send(.data(2 * index + 1, [1], end: true)) }
        _ = peer.frames()
        #expect(peer.session.openExchangeCount == 0)
        #expect(peer.session.retainedByteCount < Self.strangerByteCountMax / HTTPBounds.spareShare + 32_768)
    }
}
