// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import TestSupport
import Testing

/// Checks that no input crashes the process, and that each exchange that starts also ends.
struct HTTP2GarbageTests {
    private static let seeds = Array<UInt64>(1...100)

    /// A conversation that contains every kind of frame.
    private static let conversation: [UInt8] = {
        let bomb = HPACK.integer(0, prefixBitCount: 6, pattern: 0x40) + HPACK.string("x") + HPACK.string("y")
        let frames: [Frame] = [
            .settings([(1, 100), (4, 100), (5, 20_000)]), .settingsAcknowledgement, .request(1),
            .data(1, Array("hello".utf8), end: true), .ping(), .windowUpdate(0, 1000),
            .request(3, fields: [("content-length", "3")]), .data(3, [1, 2, 3]), .headers(3, [("t", "u")], end: true),
            .request(5), .reset(5), Frame(type: Frame.Kind.priority, stream: 7, payload: [0, 0, 0, 0, 1]),
            Frame(type: Frame.Kind.headers, stream: 7, payload: HPACK.literal(":method", "POST")),
            Frame(type: Frame.Kind.continuation, flags: Frame.endHeaders, stream: 7, payload: bomb),
            Frame(type: 0xAA, payload: [1]), .request(9, method: "GET", end: true), .settings([(4, 65_535)]),
            .windowUpdate(9, 100), Frame(type: Frame.Kind.goAway, payload: [0, 0, 0, 0, 0, 0, 0, 0]),
        ]
        return Peer.preface + frames.flatMap(\.bytes)
    }()

    /// Feeds bytes in random pieces to a session whose delegate answers at random.
    private static func survive(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> Recorder {
        let recorder = Recorder()
        var choices = SeededGenerator(seed: generator.next())
        recorder.bodyByteCountMax = Int.random(in: 0...8, using: &choices)
        let act: (HTTPExchange) -> Void = { exchange in
            guard !exchange.isAnswered else { return }
            switch Int.random(in: 0..<6, using: &choices) {
            case 0: exchange.respond(status: 200)
            case 1: exchange.respond(status: 400, body: [1, 2, 3])
            case 2:
                exchange.beginStream(status: 200)
                exchange.send([UInt8](repeating: 1, count: 200))
            case 3: exchange.abandon()
            default: break
            }
        }
        recorder.onHead = act
        recorder.onRequest = act
        let peer = Peer(recorder, isGreeted: false)
        var index = 0
        while index < bytes.count {
            let end = min(bytes.count, index + Int.random(in: 1...64, using: &generator))
            let goesOn = peer.send(Array(bytes[index..<end]))
            if Bool.random(using: &generator) { _ = peer.frames() }
            if !goesOn { break }
            index = end
        }
        _ = peer.frames()
        peer.session.close()
        return recorder
    }

    @Test(arguments: seeds)
    func `random bytes do not crash the session`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let bytes = (0..<2000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        for prefix in [[], Peer.preface, Peer.preface + Frame.settings().bytes] {
            let recorder = Self.survive(prefix + bytes, &generator)
            #expect(recorder.headIDs.sorted() == recorder.endedIDs.sorted())
        }
    }

    @Test(arguments: seeds)
    func `a conversation with damaged bytes does not crash the session`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<10 {
            var bytes = Self.conversation
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 24..<bytes.count, using: &generator)
                bytes[index] = UInt8.random(in: 0...255, using: &generator)
            }
            let recorder = Self.survive(bytes, &generator)
            #expect(recorder.headIDs.sorted() == recorder.endedIDs.sorted())
            #expect(Set(recorder.endedIDs).count == recorder.endedIDs.count)
        }
    }

    @Test func `a conversation that is cut off anywhere does not crash the session`() {
        var generator = SeededGenerator(seed: 1)
        for count in 0..<Self.conversation.count {
            let recorder = Self.survive(Array(Self.conversation.prefix(count)), &generator)
            #expect(recorder.headIDs.sorted() == recorder.endedIDs.sorted())
        }
    }

    @Test(arguments: seeds)
    func `frames in a random order do not crash the session`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var rest = Array(Self.conversation.dropFirst(24))
        let frames = Frame.take(from: &rest)
        let bytes = (0..<200).flatMap { _ in frames.randomElement(using: &generator)?.bytes ?? [] }
        let recorder = Self.survive(Peer.preface + bytes, &generator)
        #expect(recorder.headIDs.sorted() == recorder.endedIDs.sorted())
    }
}
