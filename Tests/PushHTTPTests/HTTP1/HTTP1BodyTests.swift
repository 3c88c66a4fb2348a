// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import Testing

struct HTTP1BodyTests {
    private static func post(_ fields: String, _ body: String) -> String {
        "POST / HTTP/1.1\r\nhost: a\r\n\(fields)\r\n\(body)"
    }

    @Test(arguments: [
        ("0\r\n\r\n", ""), ("5\r\nhello\r\n0\r\n\r\n", "hello"),
        ("5\r\nhello\r\n006\r\n world\r\n000\r\n\r\n", "hello world"),
        ("A\r\n0123456789\r\na;x=y\r\n0123456789\r\n0;z\r\nsum: 1\r\n\r\n", "01234567890123456789"),
        ("1 ; a=\"b\"\r\nx\r\n0\r\n\r\n", "x"),
    ])
    func `chunks are joined into one body`(chunks: String, body: String) {
        let peer = HTTP1Peer()
        for _ in 0..<2 {
            #expect(peer.exchange(Self.post("Transfer-Encoding: Chunked\r\n", chunks)).hasPrefix("HTTP/1.1 200"))
            #expect(peer.recorder.requests.last?.body == body)
        }
        #expect(peer.session.failure == nil)
    }

    @Test(arguments: [
        "\r\n", "x\r\n", "-1\r\n", "+1\r\nx\r\n", "0x1\r\nx\r\n", "1\nx\r\n", " 1\r\nx\r\n", "1 \r\nx\r\n",
        "1\r\nxy\r\n",
        "1\r\nx\n", "1\r\nx0\r\n", "10000000\r\n", "ffffffffffffffff\r\n", "1;a\u{1}\r\nx\r\n",
        "0\r\nbad name: x\r\n\r\n",
        "0\r\n folded: x\r\n\r\n", "0\r\n\n", "1,1\r\nx\r\n",
    ])
    func `malformed chunks are refused`(chunks: String) {
        let peer = HTTP1Peer()
        peer.recorder.onRequest = { $0.respond(status: 200) }
        #expect(!peer.send(Self.post("transfer-encoding: chunked\r\n", chunks)))
        #expect(peer.output() == "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        #expect(peer.recorder.requests.isEmpty && peer.recorder.endedIDs == [1])
        #expect(peer.session.isFinished && peer.session.failure != nil)
    }

    @Test(arguments: [256, 257])
    func `a chunk's line has a maximum length`(byteCount: Int) {
        let peer = HTTP1Peer()
        let line = "0;" + String(repeating: "x", count: byteCount - 2)
        #expect(peer.send(Self.post("transfer-encoding: chunked\r\n", line + "\r\n\r\n")) == (byteCount == 256))
    }

    @Test(arguments: [(4095, false), (4096, false), (4097, true)], [false, true])
    func `a body over the limit is cut, delivered immediately and closes the connection`(
        size: (byteCount: Int, overflows: Bool), isChunked: Bool
    ) {
        let peer = HTTP1Peer()
        peer.recorder.onRequest = { $0.respond(status: $0.bodyOverflowed ? 413 : 200) }
        let body = String(repeating: "x", count: size.byteCount)
        let head = isChunked ? "transfer-encoding: chunked\r\n" : "content-length: \(size.byteCount)\r\n"
        let rest = isChunked ? "\(String(size.byteCount, radix: 16))\r\n\(body)\r\n0\r\n\r\n" : body
        let answer = peer.exchange(Self.post(head, rest))
        #expect(peer.recorder.requests.map(\.overflowed) == [size.overflows])
        #expect(peer.recorder.requests.map(\.body.utf8.count) == [min(size.byteCount, 4096)])
        #expect(answer.hasPrefix(size.overflows ? "HTTP/1.1 413" : "HTTP/1.1 200"))
        #expect(answer.contains("connection: close") == size.overflows)
        #expect(peer.session.isFinished == size.overflows && peer.session.failure == nil)
        #expect(peer.recorder.endedIDs == [1])
    }

    @Test func `after an early answer the rest of the request is read and dropped before the end`() {
        let peer = HTTP1Peer()
        peer.recorder.onHead = { $0.respond(status: 403) }
        let answer = peer.exchange(Self.post("content-length: 10\r\n", "0123"))
        #expect(answer == "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        #expect(peer.recorder.endedIDs == [1] && !peer.session.isFinished)
        #expect(peer.send("4567"))
        #expect(!peer.session.isFinished)
        #expect(peer.send("89GET / HTTP/1.1\r\nhost: a\r\n\r\n"))
        #expect(peer.session.isFinished && peer.recorder.headIDs == [1] && peer.recorder.requests.isEmpty)
    }

    @Test func `the number of bytes dropped after an early answer is limited`() {
        let peer = HTTP1Peer()
        peer.recorder.onHead = { $0.respond(status: 403) }
        _ = peer.exchange(Self.post("content-length: 99999999\r\n", ""))
        let piece = [UInt8](repeating: 1, count: HTTPBounds.drainedByteCountMax / 4)
        for _ in 0..<4 { peer.send(piece) }
        #expect(!peer.session.isFinished)
        peer.send([1])
        #expect(peer.session.isFinished)
    }

    @Test func `an early answer that was not collected survives a malformed rest of the request`() {
        let peer = HTTP1Peer()
        peer.recorder.onHead = { $0.respond(status: 403, body: Array("{}".utf8)) }
        #expect(!peer.send(Self.post("transfer-encoding: chunked\r\n", "nonsense\r\n")))
        #expect(peer.output().hasSuffix("connection: close\r\n\r\n{}"))
        #expect(peer.session.isFinished && peer.recorder.endedIDs == [1])
    }

    @Test func `100 Continue is sent when the body is wanted`() {
        let peer = HTTP1Peer()
        let head = Self.post("Expect: 100-Continue\r\ncontent-length: 2\r\n", "")
        #expect(peer.exchange(head) == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(peer.exchange("hi") == "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        #expect(peer.recorder.requests.map(\.body) == ["hi"])
    }

    @Test func `100 Continue is not sent when the request is answered or too long`() {
        let refusing = HTTP1Peer()
        refusing.recorder.onHead = { $0.respond(status: 403) }
        #expect(
            refusing.exchange(Self.post("expect: 100-continue\r\ncontent-length: 2\r\n", "")).hasPrefix("HTTP/1.1 403"))
        #expect(refusing.session.isFinished)
        let long = HTTP1Peer()
        long.recorder.onRequest = { $0.respond(status: $0.bodyOverflowed ? 413 : 200) }
        #expect(
            long.exchange(Self.post("expect: 100-continue\r\ncontent-length: 4097\r\n", "")).hasPrefix("HTTP/1.1 413"))
        #expect(long.session.isFinished)
    }

    @Test(arguments: ["content-length: 0\r\n", ""])
    func `100 Continue is not sent for a request without a body`(length: String) {
        let peer = HTTP1Peer()
        #expect(peer.exchange(Self.post("expect: 100-continue\r\n\(length)", "")).hasPrefix("HTTP/1.1 200"))
    }
}
