// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import TestSupport
import Testing

struct HTTP1RequestTests {
    @Test(arguments: [
        ("GET / HTTP/1.1", "/"), ("GET /a?b=c&d HTTP/1.1", "/a?b=c&d"), ("GET //x HTTP/1.1", "//x"),
        ("GET http://a HTTP/1.1", "/"), ("GET HTTPS://a:1/x?y HTTP/1.1", "/x?y"), ("GET http://a?q HTTP/1.1", "/?q"),
        ("OPTIONS * HTTP/1.1", "*"), ("GET /%00 HTTP/1.1", "/%00"), ("GET / HTTP/1.9", "/"),
        ("G!#$%&'*+-.^_`|~9 / HTTP/1.1", "/"),
        ("\r\nGET / HTTP/1.1", "/"),
    ])
    func `a request line is read`(line: String, path: String) {
        let peer = HTTP1Peer()
        #expect(peer.exchange("\(line)\r\nhost: a\r\n\r\n").hasPrefix("HTTP/1.1 200"))
        #expect(peer.recorder.requests.map(\.path) == [path])
    }

    @Test(arguments: [
        // Malformed request lines.
        "GET /\r\nhost: a\r\n\r\n", "GET  / HTTP/1.1\r\nhost: a\r\n\r\n", "GET /  HTTP/1.1\r\nhost: a\r\n\r\n",
        " GET / HTTP/1.1\r\nhost: a\r\n\r\n", "GET\t/ HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET / HTTP/1.1 \r\nhost: a\r\n\r\n",
        "GET / http/1.1\r\nhost: a\r\n\r\n", "GET / HTTP/1.11\r\nhost: a\r\n\r\n", "GET / HTTP/11\r\nhost: a\r\n\r\n",
        "GET x HTTP/1.1\r\nhost: a\r\n\r\n", "GET * HTTP/1.1\r\nhost: a\r\n\r\n",
        "CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /#x HTTP/1.1\r\nhost: a\r\n\r\n", "GET /\u{7F} HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /é HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET http:// HTTP/1.1\r\nhost: a\r\n\r\n", "GET http:///x HTTP/1.1\r\nhost: a\r\n\r\n",
        "G(T / HTTP/1.1\r\nhost: a\r\n\r\n",
        "\r\n\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\n", "GET / HTTP/1.1\nhost: a\n\n", "GET / HTTP/1.1\r\rhost: a\r\n\r\n",
        "GET /\r HTTP/1.1\r\nhost: a\r\n\r\n", "GET /\0 HTTP/1.1\r\nhost: a\r\n\r\n",
        // Malformed fields.
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nhost: a\r\nhost: a\r\n\r\n", "GET / HTTP/1.1\r\nhost: a b\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a@b\r\n\r\n", "GET / HTTP/1.1\r\nhost : a\r\n\r\n",
        "GET / HTTP/1.1\r\nhost\t: a\r\n\r\n",
        "GET / HTTP/1.1\r\n host: a\r\n\r\n", "GET / HTTP/1.1\r\nhost: a\r\nx: y\r\n z\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\n: y\r\n\r\n", "GET / HTTP/1.1\r\nhost: a\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\nx: \u{1}\r\n\r\n", "GET / HTTP/1.1\r\nhost: a\r\nx: \u{7F}\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\nx: a\0b\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\nx: a\rb\r\n\r\n", "GET / HTTP/1.1\r\nhost: a\r\nx: a\nb: c\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\nx: a\r\n\n", "GET / HTTP/1.1\r\nhost: a\r\né: a\r\n\r\n",
        // Ambiguous body lengths, which permit request smuggling.
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ncontent-length: 1\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\nx",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1, 1\r\n\r\nx",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: +1\r\n\r\nx",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\nx",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0x1\r\n\r\nx",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1 1\r\n\r\nx",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: \r\n\r\nx",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9999999999999999999\r\n\r\nx",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: \u{B}chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding : chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.0\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ])
    func `an ambiguous request is refused, and nothing after it is read`(request: String) {
        let peer = HTTP1Peer()
        #expect(!peer.send(request + "GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n"))
        #expect(peer.output() == "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        #expect(peer.recorder.headIDs.isEmpty)
        #expect(peer.session.isFinished && peer.session.failure != nil)
        #expect(!peer.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n"))
    }

    @Test(arguments: ["GET / HTTP/2.0\r\n\r\n", "GET / HTTP/0.9\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"])
    func `another HTTP version is refused with 505`(request: String) {
        let peer = HTTP1Peer()
        #expect(!peer.send(request))
        #expect(peer.output().hasPrefix("HTTP/1.1 505 "))
    }

    @Test func `an unknown expectation is refused with 417`() {
        let peer = HTTP1Peer()
        #expect(!peer.send("GET / HTTP/1.1\r\nhost: a\r\nexpect: tea\r\n\r\n"))
        #expect(peer.output().hasPrefix("HTTP/1.1 417 "))
    }

    @Test(arguments: [(0, "200"), (1, "431")])
    func `fields are refused with 431 at one over the maximum count`(excess: Int, status: String) {
        let peer = HTTP1Peer()
        let fields = (0..<63 + excess).map { "x\($0):\r\n" }.joined()
        #expect(peer.exchange("GET / HTTP/1.1\r\nhost: a\r\n\(fields)\r\n").hasPrefix("HTTP/1.1 \(status)"))
    }

    @Test(arguments: [(0, "200"), (1, "431")])
    func `fields are refused with 431 at one byte over the limit`(excess: Int, status: String) {
        let peer = HTTP1Peer(limits: HTTP2LimitTests.limits(headerBytes: 1000))
        let used = "GET / HTTP/1.1".utf8.count + "hosta".utf8.count + 32 + "x".utf8.count + 32
        let value = String(repeating: "v", count: 1000 - used + excess)
        #expect(peer.exchange("GET / HTTP/1.1\r\nhost: a\r\nx: \(value)\r\n\r\n").hasPrefix("HTTP/1.1 \(status)"))
    }

    @Test func `an endless line is refused before it fills the memory`() {
        let target = HTTP1Peer()
        #expect(!target.send("GET /" + String(repeating: "x", count: 16_384)))
        #expect(target.output().hasPrefix("HTTP/1.1 414 "))
        let field = HTTP1Peer()
        #expect(!field.send("GET / HTTP/1.1\r\nhost: " + String(repeating: "x", count: 16_384)))
        #expect(field.output().hasPrefix("HTTP/1.1 431 "))
        let trailers = HTTP1Peer()
        let head = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n"
        #expect(!trailers.send(head + String(repeating: "x: y\r\n", count: 65)))
        #expect(trailers.output().hasPrefix("HTTP/1.1 431 "))
    }

    @Test(arguments: [
        "POST /a HTTP/1.1\r\nHost: b\r\nContent-Length: 5\r\n\r\nhelloGET /c HTTP/1.1\r\nhost: d\r\n\r\n",
        "\r\nPUT /a HTTP/1.1\r\nhost: b\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\nt: u\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: b\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\nx",
        "GET / HTTP/1.0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    ])
    func `a conversation has the same result wherever it is split`(conversation: String) {
        func outcome(_ pieces: [ArraySlice<UInt8>]) -> (String, [Recorder.Request]) {
            let peer = HTTP1Peer()
            var output = ""
            for piece in pieces {
                peer.send(Array(piece))
                output += peer.output()
            }
            return (output, peer.recorder.requests)
        }
        let bytes = Array(conversation.utf8)
        let whole = outcome([bytes[...]])
        for index in 0...bytes.count {
            let split = outcome([bytes[..<index], bytes[index...]])
            #expect(split == whole, "split at \(index)")
        }
        #expect(outcome(bytes.indices.map { bytes[$0...$0] }) == whole)
    }

    @Test(arguments: Array<UInt64>(1...100))
    func `random and damaged bytes do not crash the session`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let text = "POST /a HTTP/1.1\r\nhost: b\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        for _ in 0..<50 {
            let peer = HTTP1Peer()
            peer.recorder.onRequest = { if $0.id % 3 != 0 { $0.respond(status: 200) } }
            var bytes = Array(String(repeating: text, count: 4).utf8)
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] = Bool.random(using: &generator) ? UInt8.random(in: 0...255, using: &generator) : 13
            }
            while !bytes.isEmpty {
                let count = Int.random(in: 1...min(50, bytes.count), using: &generator)
                if !peer.send(Array(bytes.prefix(count))) { break }
                bytes.removeFirst(count)
                _ = peer.output()
            }
            _ = peer.output()
            peer.session.close()
            #expect(peer.recorder.headIDs == peer.recorder.endedIDs)
        }
    }
}
