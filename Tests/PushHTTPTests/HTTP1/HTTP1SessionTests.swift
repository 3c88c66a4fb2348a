// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import Testing

struct HTTP1SessionTests {
    private static let ok = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
    private static let get = "GET / HTTP/1.1\r\nhost: a\r\n\r\n"

    @Test func `a request with a body is delivered and answered, and the connection stays open`() {
        let peer = HTTP1Peer()
        peer.recorder.onRequest = { exchange in
            exchange.addField("apns-id", text: "x")
            exchange.addField("content-type", "application/json")
            exchange.respond(status: 400, body: Array("{}".utf8))
        }
        let request = "POST /3/device/00?a=b HTTP/1.1\r\nHost: a\r\nAPNS-Topic:  t \r\nContent-Length: 2\r\n\r\nhi"
        peer.recorder.onHead = { exchange in
            let fields = exchange.fields.fields.map {
                exchange.fields.text($0.name) + "=" + exchange.fields.text($0.value)
            }
            #expect(fields == ["host=a", "apns-topic=t", "content-length=2"])
        }
        for id: Int32 in 1...3 {
            #expect(
                peer.exchange(request)
                    == "HTTP/1.1 400 Bad Request\r\napns-id: x\r\ncontent-type: application/json\r\n"
                    + "content-length: 2\r\n\r\n{}")
            #expect(peer.recorder.endedIDs.last == id && peer.session.openExchangeCount == 0)
        }
        #expect(
            peer.recorder.requests.last
                == .init(id: 3, method: .post, path: "/3/device/00?a=b", body: "hi", overflowed: false))
        #expect(!peer.session.isFinished && peer.session.failure == nil)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\nConnection: x , CLOSE\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.0\r\nhost: a\r\nconnection: keep-alive\r\n\r\n",
    ])
    func `a connection without keep-alive is closed after the answer`(request: String) {
        let peer = HTTP1Peer()
        #expect(peer.exchange(request) == "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        #expect(peer.session.isFinished && peer.session.failure == nil)
        #expect(peer.exchange(Self.get).isEmpty)
    }

    @Test func `a HEAD request gets the length of a body and no body`() {
        let peer = HTTP1Peer()
        peer.recorder.onRequest = { $0.respond(status: 200, body: [1, 2, 3]) }
        #expect(peer.exchange("HEAD / HTTP/1.1\r\nhost: a\r\n\r\n") == "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n")
        peer.recorder.onRequest = {
            $0.beginStream(status: 200)
            $0.send([1, 2, 3])
            $0.endStream()
        }
        #expect(
            peer.exchange("HEAD / HTTP/1.1\r\nhost: a\r\n\r\n")
                == "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        #expect(peer.recorder.endedIDs == [1, 2])
    }

    @Test func `an answer whose status permits no body has no length`() {
        let peer = HTTP1Peer()
        peer.recorder.onRequest = { $0.respond(status: 204) }
        #expect(peer.exchange(Self.get) == "HTTP/1.1 204 No Content\r\n\r\n")
        #expect(peer.exchange(Self.get) == "HTTP/1.1 204 No Content\r\n\r\n")
    }

    @Test func `a streamed answer is sent in chunks, and unsent bytes are counted exactly`() {
        let peer = HTTP1Peer()
        peer.recorder.onRequest = { $0.beginStream(status: 200) }
        #expect(peer.exchange(Self.get) == "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        guard let exchange = peer.session.exchange(1) else { preconditionFailure("the stream is open") }
        #expect(!peer.session.hasOutput)
        exchange.send(Array("0123456789abcdefXYZ".utf8))
        #expect(exchange.unsentByteCount == 19)
        #expect(peer.output() == "13\r\n0123456789abcdefXYZ\r\n")
        #expect(exchange.unsentByteCount == 0)
        exchange.send(Array("abcdef".utf8))
        #expect(peer.output(limit: 4) == "4\r\nabcd\r\n2\r\nef\r\n")
        exchange.send(Array("z".utf8))
        exchange.endStream()
        #expect(peer.output() == "1\r\nz\r\n0\r\n\r\n")
        #expect(peer.recorder.endedIDs == [1])
        #expect(peer.exchange(Self.get) == "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    }

    @Test func `an idle stream frees its request, and the next request is read normally`() {
        let peer = HTTP1Peer()
        peer.recorder.onRequest = { $0.beginStream(status: 200) }
        peer.send(Self.get)
        _ = peer.output()
        guard let exchange = peer.session.exchange(1) else { preconditionFailure("the stream is open") }
        #expect(peer.session.isQuiet && exchange.fields.bytes.isEmpty)
        exchange.send([1])
        #expect(!peer.session.isQuiet)
        exchange.endStream()
        _ = peer.output()
        #expect(!peer.session.isQuiet && peer.recorder.endedIDs == [1])
        peer.recorder.onRequest = { $0.respond(status: 200) }
        peer.send(Self.get)
        #expect(peer.output() == Self.ok)
    }

    @Test func `a streamed answer to HTTP 1 0 ends with the connection`() {
        let peer = HTTP1Peer()
        peer.recorder.onRequest = {
            $0.beginStream(status: 200)
            $0.send(Array("hello".utf8))
        }
        #expect(peer.exchange("GET / HTTP/1.0\r\n\r\n") == "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhello")
        #expect(!peer.session.isFinished)
        peer.session.exchange(1)?.endStream()
        #expect(peer.output().isEmpty)
        #expect(peer.session.isFinished)
    }

    @Test func `pipelined requests are answered one after the other`() {
        let peer = HTTP1Peer()
        peer.recorder.onRequest = { _ in }
        peer.send(Self.get + "PUT /2 HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\nx" + Self.get)
        #expect(peer.recorder.headIDs == [1] && peer.output().isEmpty)
        peer.session.exchange(1)?.respond(status: 200)
        #expect(peer.output() == Self.ok)
        #expect(peer.recorder.requests.map(\.path) == ["/", "/2"])
        #expect(peer.session.exchange(1) == nil)
        peer.recorder.onRequest = { $0.respond(status: 200) }
        peer.session.exchange(2)?.respond(status: 200)
        #expect(peer.output() == Self.ok + Self.ok)
        #expect(peer.recorder.endedIDs == [1, 2, 3])
    }

    @Test func `thousands of requests in one piece are all answered`() {
        let peer = HTTP1Peer()
        let text = String(repeating: Self.get, count: 2000)
        #expect(peer.send(text))
        #expect(peer.output(limit: 100) == String(repeating: Self.ok, count: 2000))
    }

    @Test(arguments: [0, 1])
    func `the bytes that wait behind an unanswered request are limited`(excess: Int) {
        let peer = HTTP1Peer()
        peer.recorder.onRequest = { _ in }
        peer.send(Self.get)
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: HTTPBounds.pipelinedByteCountMax / 2)
        #expect(peer.send(piece))
        #expect(peer.send(piece))
        #expect(peer.send([UInt8](repeating: 1, count: excess)) == (excess == 0))
        #expect((peer.session.failure == nil) == (excess == 0))
    }

    @Test func `no input is accepted while some waits behind an unanswered request`() {
        let peer = HTTP1Peer()
        peer.recorder.onRequest = { _ in }
        peer.send(Self.get)
        #expect(peer.session.acceptsInput)
        peer.send(Self.get + Self.get)
        #expect(!peer.session.acceptsInput)
        peer.session.exchange(1)?.respond(status: 200)
        _ = peer.output()
        #expect(!peer.session.acceptsInput)
        peer.session.exchange(2)?.respond(status: 200)
        _ = peer.output()
        #expect(peer.session.acceptsInput && peer.recorder.headIDs == [1, 2, 3])
    }

    @Test func `a body that exceeds the session's memory budget is too long`() {
        let peer = HTTP1Peer()
        (peer.recorder.bodyByteCountMax, peer.session.retainedByteCountMax) = (65_536, 20_000)
        peer.recorder.onRequest = { _ in }
        peer.send("PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 60000\r\n\r\n")
        for _ in 0..<60 { peer.send([UInt8](repeating: 1, count: 1000)) }
        #expect(peer.recorder.requests.map(\.overflowed) == [true])
        #expect(peer.session.retainedByteCount < 20_000)
    }

    @Test func `an exchange is ended once when the session is closed, and a late answer does nothing`() {
        let peer = HTTP1Peer()
        peer.recorder.onRequest = { _ in }
        peer.send(Self.get)
        let exchange = peer.session.exchange(1)
        peer.session.close()
        peer.session.close()
        exchange?.respond(status: 200)
        #expect(peer.recorder.endedIDs == [1])
        #expect(peer.session.isFinished && !peer.session.hasOutput && !peer.send(Self.get))
    }

    @Test func `a session that is released ends its exchange without notifying the delegate`() {
        let recorder = Recorder()
        recorder.onRequest = { _ in }
        var exchange: HTTPExchange?
        do {
            let peer = HTTP1Peer(recorder)
            peer.send(Self.get)
            exchange = peer.session.openExchanges.first
        }
        #expect(recorder.endedIDs.isEmpty)
        exchange?.respond(status: 200)
        #expect(exchange?.isAnswered == false)
    }

    @Test func `a session reports whether it waits for the rest of a head`() {
        let peer = HTTP1Peer()
        #expect(!peer.session.awaitsRest)
        for byte in Array(Self.get.utf8).dropLast() {
            #expect(peer.send([]) && peer.send([byte]))
            #expect(peer.session.awaitsRest && peer.session.completedMessageCount == 0)
        }
        peer.send("\n")
        #expect(!peer.session.awaitsRest && peer.session.completedMessageCount == 1)
        #expect(peer.output() == Self.ok)
        #expect(!peer.session.awaitsRest)
    }

    @Test func `an abandoned answer ends the exchange and the connection`() {
        let peer = HTTP1Peer()
        peer.recorder.onRequest = { $0.beginStream(status: 200) }
        _ = peer.exchange(Self.get)
        peer.session.exchange(1)?.abandon()
        #expect(peer.session.hasOutput)
        #expect(peer.output().isEmpty)
        #expect(peer.recorder.endedIDs == [1] && peer.session.isFinished)
    }

    @Test func `an idle session that shuts down is finished, and a busy one answers first with close`() {
        let idle = HTTP1Peer()
        #expect(idle.exchange(Self.get) == Self.ok)
        idle.session.announceShutdown(debugData: [])
        #expect(idle.session.isFinished)
        let busy = HTTP1Peer()
        busy.recorder.onRequest = { _ in }
        busy.send(Self.get)
        busy.session.announceShutdown(debugData: [])
        busy.session.finishShutdown(debugData: [])
        #expect(!busy.session.isFinished)
        busy.session.exchange(1)?.respond(status: 200)
        #expect(busy.output().contains("connection: close\r\n"))
        #expect(busy.session.isFinished)
        let reading = HTTP1Peer()
        reading.send("GET / HT")
        reading.session.announceShutdown(debugData: [])
        #expect(!reading.session.isFinished)
        #expect(reading.exchange("TP/1.1\r\nhost: a\r\n\r\n").contains("connection: close\r\n"))
        #expect(reading.session.isFinished)
    }

    @Test func `a line break in an answer's value cannot start another field`() {
        let peer = HTTP1Peer()
        peer.recorder.onRequest = {
            $0.addField("apns-id", text: "a\r\nset-cookie: b\u{7F}")
            $0.respond(status: 200)
        }
        #expect(peer.exchange(Self.get).hasPrefix("HTTP/1.1 200 OK\r\napns-id: a  set-cookie: b \r\n"))
    }
}
