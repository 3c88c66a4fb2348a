// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import Testing

/// Checks upgrade requests, including the forms that reach the delegate before the request is complete.
struct HTTP1UpgradeTests {
    private static let start = "GET /v1/stream HTTP/1.1\r\nhost: a\r\nupgrade: websocket\r\nconnection: upgrade\r\n"

    /// Returns a peer whose requests stay unanswered.
    private static func waitingPeer() -> HTTP1Peer {
        let peer = HTTP1Peer()
        peer.recorder.onRequest = { _ in }
        return peer
    }

    @Test func `a handshake without a body switches, and later bytes belong to the next protocol`() throws {
        let peer = Self.waitingPeer()
        peer.send(Self.start + "\r\nframes")
        peer.send(" and more")
        #expect(peer.session.upgradeReadiness == .ready)
        peer.session.exchange(1)?.addField("upgrade", "websocket")
        let (output, input) = try #require(peer.session.switchProtocols())
        #expect(
            String(decoding: output, as: UTF8.self) == "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n")
        #expect(String(decoding: input, as: UTF8.self) == "frames and more")
        #expect(peer.session.isFinished && peer.recorder.endedIDs == [1])
        #expect(peer.session.switchProtocols() == nil)
    }

    @Test(arguments: [
        "expect: 100-continue\r\ncontent-length: 70000\r\n\r\n",
        "expect: 100-continue\r\ncontent-length: 5\r\n\r\n",
        "expect: 100-continue\r\ntransfer-encoding: chunked\r\n\r\n",
        "content-length: 70000\r\n\r\n" + String(repeating: "x", count: 66_000),
        "content-length: 5\r\n\r\n",
        "content-length: 5\r\n\r\nhello",
        "content-length: 5\r\n\r\nhelloframes",
        "transfer-encoding: chunked\r\n\r\n",
        "transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "transfer-encoding: chunked\r\n\r\n1388\r\n" + String(repeating: "x", count: 5000) + "\r\n0\r\n",
    ])
    func `a handshake with a body never switches, however early it is delivered`(rest: String) {
        let peer = Self.waitingPeer()
        peer.recorder.onHead = { _ in #expect(peer.session.switchProtocols() == nil) }
        peer.send(Self.start + rest)
        #expect(peer.session.upgradeReadiness == .hasBody)
        #expect(peer.session.switchProtocols() == nil)
        #expect(peer.recorder.endedIDs.isEmpty)
        peer.session.exchange(1)?.respond(status: 400)
        #expect(peer.output().contains("HTTP/1.1 400 Bad Request\r\n"))
        #expect(peer.recorder.endedIDs == [1])
    }

    @Test func `a handshake in one-byte pieces switches only at its end`() {
        let peer = Self.waitingPeer()
        for byte in Array((Self.start + "\r\n").utf8) {
            #expect(peer.session.upgradeReadiness == .unavailable)
            peer.send([byte])
        }
        #expect(peer.session.upgradeReadiness == .ready)
    }

    @Test func `a request that was answered, abandoned, closed or followed by too much never switches`() {
        let ends: [(HTTP1Peer) -> Void] = [
            { $0.session.exchange(1)?.respond(status: 200) }, { $0.session.exchange(1)?.beginStream(status: 200) },
            { $0.session.exchange(1)?.abandon() }, { $0.session.close() },
            { $0.send([UInt8](repeating: 1, count: HTTPBounds.pipelinedByteCountMax + 1)) },
        ]
        for end in ends {
            let peer = Self.waitingPeer()
            peer.send(Self.start + "\r\n")
            #expect(peer.session.upgradeReadiness == .ready)
            end(peer)
            #expect(peer.session.upgradeReadiness == .unavailable && peer.session.switchProtocols() == nil)
        }
    }

    @Test func `HTTP 1 0 never switches`() {
        let peer = Self.waitingPeer()
        peer.send("GET /v1/stream HTTP/1.0\r\n\r\n")
        #expect(peer.session.upgradeReadiness == .unavailable && peer.session.switchProtocols() == nil)
    }

    @Test func `garbage after an early answer gets no second answer`() {
        let peer = HTTP1Peer()
        peer.recorder.onHead = { $0.respond(status: 403) }
        let answer = peer.exchange("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 403 "))
        #expect(!peer.send("not a chunk\r\n"))
        #expect(peer.output().isEmpty && peer.session.isFinished)
    }
}
