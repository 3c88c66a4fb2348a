// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import TestSupport
import Testing

/// Repeats the behavior of real clients, which no limit may punish.
///
/// The clock stands still, so each token bucket has only its burst.
struct HTTP2ClientTests {
    @Test func `a thousand streams before the settings were read are all served`() {
        let peer = Peer(isGreeted: false)
        var bytes = Peer.preface + Frame.settings().bytes
        for index in 0..<Int32(1000) {
            bytes += Frame.request(index * 2 + 1).bytes + Frame.data(index * 2 + 1, Array("{}".utf8), end: true).bytes
        }
        #expect(peer.send(bytes))
        #expect(peer.frames().filter { $0.type == Frame.Kind.headers && $0.endsStream }.count == 1000)
    }

    @Test func `a body in frames of one byte is accepted`() {
        let peer = Peer()
        for id in stride(from: Int32(1), to: 21, by: 2) {
            peer.send(.request(id))
            for _ in 0..<4095 { #expect(peer.send(.data(id, [UInt8(ascii: "a")]))) }
            #expect(peer.exchange(.data(id, [UInt8(ascii: "a")], end: true)).contains { $0.endsStream })
        }
        #expect(peer.recorder.requests.allSatisfy { $0.body.utf8.count == 4096 && !$0.overflowed })
    }

    @Test func `empty DATA frames that end their streams are accepted`() {
        let peer = Peer()
        for index in 0..<Int32(3000) {
            #expect(peer.exchange(.request(index * 2 + 1), .data(index * 2 + 1, [], end: true)).count == 1)
        }
    }

    @Test func `a client that opens both windows after each error is accepted`() {
        let peer = Peer()
        peer.recorder.onRequest = { $0.respond(status: 400, body: Array(#"{"reason":"PayloadEmpty"}"#.utf8)) }
        for index in 0..<Int32(5000) {
            let answer = peer.exchange(.request(index * 2 + 1, end: true))
            #expect(answer.count == 2)
            #expect(peer.send(.windowUpdate(index * 2 + 1, 25), .windowUpdate(0, 25)))
        }
    }

    @Test func `a PING every other second and a priority with each request are accepted`() {
        let peer = Peer()
        for index in 0..<Int32(2000) {
            peer.wait(seconds: 2)
            let priority = Frame(type: Frame.Kind.priority, stream: index * 2 + 1, payload: [0, 0, 0, 0, 200])
            let answer = peer.exchange(priority, .request(index * 2 + 1, end: true), .ping())
            #expect(answer.count == 2)
        }
        #expect(peer.session.failure == nil)
    }

    @Test func `four hundred streams open at once are answered in any order`() {
        let peer = Peer()
        peer.recorder.onRequest = { _ in }
        var generator = SeededGenerator(seed: 7)
        let ids = (0..<Int32(400)).map { $0 * 2 + 1 }
        for id in ids { #expect(peer.exchange(.request(id, path: "/\(id)", end: true)).isEmpty) }
        for id in ids.shuffled(using: &generator) {
            let exchange = peer.session.exchange(id)
            #expect(exchange.map { $0.fields.text($0.path) } == "/\(id)")
            exchange?.respond(status: 200)
            #expect(peer.frames().map(\.stream) == [id])
        }
        #expect(peer.recorder.endedIDs.count == 400 && peer.session.openExchangeCount == 0)
    }
}
