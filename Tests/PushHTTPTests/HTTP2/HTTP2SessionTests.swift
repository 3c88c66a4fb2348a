// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import TestSupport
import Testing

struct HTTP2SessionTests {
    @Test func `the session starts with its settings and a large connection window`() {
        let peer = Peer(isGreeted: false)
        let frames = peer.frames()
        #expect(frames.map(\.type) == [Frame.Kind.settings, Frame.Kind.windowUpdate])
        #expect(frames[0] == .settings([(1, 4096), (3, 1000), (6, 8000)]))
        #expect(frames[1] == .windowUpdate(0, UInt32(HTTPBounds.connectionWindowByteCount) - 65_535))
    }

    @Test func `an answer without a body is one HEADERS frame that ends the stream`() {
        let peer = Peer()
        let answer = peer.exchange(.request(1), .data(1, Array("{}".utf8), end: true))
        #expect(answer.count == 1)
        #expect(answer[0].type == Frame.Kind.headers && answer[0].endsStream)
        #expect(peer.fields(of: answer[0]) == [":status": "200"])
        #expect(
            peer.recorder.requests == [
                .init(id: 1, method: .post, path: "/3/device/00", body: "{}", overflowed: false)
            ])
        #expect(peer.recorder.endedIDs == [1])
        #expect(peer.session.openExchangeCount == 0)
    }

    @Test(arguments: [400, 403, 404, 405, 410, 413, 429, 500, 503])
    func `an error is HEADERS and exactly one DATA frame that ends the stream`(status: Int) {
        let peer = Peer()
        let body = Array(#"{"reason":"BadDeviceToken"}"#.utf8)
        peer.recorder.onRequest = { exchange in
            exchange.addField("apns-id", Array("EC1BF194-B3B2-424A-89A9-5A918A6E6B5D".utf8).span)
            exchange.addField("content-type", "application/json")
            exchange.respond(status: status, body: body)
        }
        for id in stride(from: Int32(1), to: 9, by: 2) {
            let answer = peer.exchange(.request(id, end: true))
            #expect(answer.map(\.type) == [Frame.Kind.headers, Frame.Kind.data])
            #expect(answer.map(\.endsStream) == [false, true])
            #expect(answer[1].payload == body)
            #expect(
                peer.fields(of: answer[0]) == [
                    ":status": "\(status)", "apns-id": "EC1BF194-B3B2-424A-89A9-5A918A6E6B5D",
                    "content-type": "application/json",
                ])
        }
    }

    @Test func `answers are readable and become shorter when the peer knows the names of their fields`() throws {
        let peer = Peer()
        peer.recorder.onRequest = { exchange in
            exchange.addField("apns-id", Array("id-of-\(exchange.id)".utf8).span)
            exchange.addField("apns-unique-id", Array("unique-\(exchange.id)".utf8).span)
            exchange.respond(status: 200)
        }
        var byteCounts: [Int] = []
        for index in 0..<2 * HTTPBounds.indexedAnswerCountMax {
            let id = Int32(2 * index + 1)
            let head = try #require(peer.exchange(.request(id, end: true)).first)
            #expect(
                peer.fields(of: head) == [
                    ":status": "200", "apns-id": "id-of-\(id)", "apns-unique-id": "unique-\(id)",
                ])
            byteCounts.append(head.payload.count)
        }
        // Both names have 20 bytes, and at least 15 in HPACK's Huffman code.
        #expect(byteCounts.dropFirst().allSatisfy { $0 < byteCounts[0] - 10 })
        #expect(peer.session.failure == nil)
    }

    @Test func `repeated fields are kept, pseudo-fields are not among them, and host may replace authority`() {
        let peer = Peer()
        var fields: [String] = []
        peer.recorder.onHead = { exchange in
            let table = exchange.fields
            fields = table.fields.map { "\(table.text($0.name))=\(table.text($0.value))" }
            #expect(table.value(of: "apns-id").map(table.text) == "a")
            #expect(table.value(of: "apns-i") == nil)
        }
        let head = Frame.headers(
            1,
            [
                (":method", "POST"), (":scheme", "https"), (":path", "/x?y"), ("host", "push.example"),
                ("apns-id", "a"), ("apns-id", "b"), ("apns-topic", ""),
            ], end: true)
        #expect(peer.exchange(head).count == 1)
        #expect(fields == ["host=push.example", "apns-id=a", "apns-id=b", "apns-topic="])
        #expect(peer.recorder.requests.map(\.path) == ["/x?y"])
    }

    @Test func `a conversation in single bytes has the same result`() {
        let peer = Peer(isGreeted: false)
        let conversation =
            Peer.preface + Frame.settings().bytes + Frame.request(1).bytes
            + Frame.data(1, Array("{}".utf8), end: true).bytes
        for byte in conversation { #expect(peer.send([]) && peer.send([byte])) }
        #expect(peer.recorder.requests.map(\.body) == ["{}"])
        #expect(peer.frames(limit: 1).contains { $0.type == Frame.Kind.headers && $0.endsStream })
    }

    @Test func `a late answer finds its exchange, and an answer to a closed stream does nothing`() {
        let peer = Peer()
        var kept: HTTPExchange?
        peer.recorder.onRequest = { kept = $0 }
        #expect(peer.exchange(.request(1, end: true), .request(3, end: true)).isEmpty)
        #expect(peer.session.openExchangeCount == 2)
        #expect(peer.session.exchange(1)?.id == 1)
        #expect(peer.session.exchange(5) == nil)
        #expect(peer.session.exchange(0) == nil)
        #expect(peer.session.exchange(-1) == nil)
        #expect(peer.exchange(.reset(3)).isEmpty)
        #expect(peer.recorder.endedIDs == [3])
        #expect(peer.session.exchange(3) == nil)
        kept?.respond(status: 200)
        #expect(peer.frames().isEmpty)
        peer.session.exchange(1)?.respond(status: 200)
        #expect(peer.frames().map(\.stream) == [1])
        #expect(peer.recorder.endedIDs == [3, 1])
    }

    @Test func `a reused exchange shows nothing of the previous request`() {
        let peer = Peer()
        peer.recorder.onHead = { $0.context = peer.recorder }
        peer.recorder.onRequest = {
            $0.addField("x", "y"); $0.respond(status: 400, body: [1, 2, 3])
        }
        _ = peer.exchange(.request(1, fields: [("secret", "1")]), .data(1, Array("body".utf8), end: true))
        peer.recorder.onHead = { exchange in
            #expect(exchange.context == nil && exchange.fields.fields.isEmpty && !exchange.isAnswered)
        }
        peer.recorder.onRequest = { $0.respond(status: 200) }
        let answer = peer.exchange(.request(3, method: "GET", path: "/", end: true))
        #expect(peer.recorder.requests.last == .init(id: 3, method: .get, path: "/", body: "", overflowed: false))
        #expect(answer.map(\.payload.count) == [1])
    }

    @Test(arguments: [
        ("GET", Method.get), ("HEAD", .head), ("PUT", .put), ("DELETE", .delete), ("PATCH", .patch), ("get", .other),
        ("Patch", .other), ("PATC", .other), ("PATCHX", .other),
    ])
    func `methods are distinguished by their bytes`(name: String, method: Method) {
        let peer = Peer()
        _ = peer.exchange(.request(1, method: name, end: true))
        #expect(peer.recorder.requests.map(\.method) == [method])
    }

    @Test(arguments: [false, true])
    func `an answer to HEAD has fields and no body`(isStream: Bool) {
        let peer = Peer()
        peer.recorder.onRequest = { exchange in
            exchange.addField("content-type", "text/plain")
            guard isStream else { return exchange.respond(status: 200, body: [1, 2, 3]) }
            exchange.beginStream(status: 200)
            exchange.send([1, 2, 3])
            exchange.endStream()
        }
        let answer = peer.exchange(.request(1, method: "HEAD", end: true))
        #expect(answer.map(\.type) == [Frame.Kind.headers] && answer[0].endsStream)
        #expect(peer.fields(of: answer[0]) == [":status": "200", "content-type": "text/plain"])
        #expect(peer.recorder.endedIDs == [1])
    }

    @Test func `only a complete frame is counted as a message`() {
        let peer = Peer(isGreeted: false)
        peer.send(Peer.preface)
        #expect(peer.session.completedMessageCount == 0)
        for frame in [Frame.settings(), .request(1), .data(1, [1, 2, 3])] {
            let count = peer.session.completedMessageCount
            for byte in frame.bytes.dropLast() { peer.send([byte]) }
            #expect(peer.session.completedMessageCount == count)
            peer.send(Array(frame.bytes.suffix(1)))
            #expect(peer.session.completedMessageCount == count + 1)
        }
    }

    @Test func `a PING is answered, and ours is counted until it is answered`() {
        let peer = Peer()
        #expect(peer.exchange(.ping()) == [.ping(flags: Frame.acknowledge)])
        peer.session.ping()
        peer.session.ping()
        #expect(peer.session.unansweredPingCount == 2)
        let pings = peer.frames()
        #expect(pings.map(\.type) == [Frame.Kind.ping, Frame.Kind.ping])
        peer.send(.ping([9, 9, 9, 9, 9, 9, 9, 9], flags: Frame.acknowledge))
        #expect(peer.session.unansweredPingCount == 2)
        peer.send(.ping(pings[0].payload, flags: Frame.acknowledge))
        #expect(peer.session.unansweredPingCount == 1)
        peer.send(.ping(pings[1].payload, flags: Frame.acknowledge))
        #expect(peer.session.unansweredPingCount == 0)
    }

    @Test func `a session reports whether it waits for the rest of a frame or head`() {
        let peer = Peer(isGreeted: false)
        #expect(peer.session.awaitsRest)
        peer.send(Peer.preface)
        #expect(!peer.session.awaitsRest)
        let head = Frame.request(1).bytes
        for index in head.indices {
            peer.send([head[index]])
            #expect(peer.session.awaitsRest == (index < head.count - 1), "byte \(index)")
        }
        let open = Frame(type: Frame.Kind.headers, stream: 3, payload: HPACK.literal(":method", "POST"))
        peer.send(open)
        #expect(peer.session.awaitsRest)
        peer.send(Frame(type: Frame.Kind.continuation, flags: Frame.endHeaders, stream: 3))
        #expect(!peer.session.awaitsRest)
    }

    @Test func `trailers are ignored and end the request`() {
        let peer = Peer()
        let answer = peer.exchange(
            .request(1), .data(1, Array("{}".utf8)), .headers(1, [("checksum", "1")], end: true))
        #expect(answer.count == 1)
        #expect(peer.recorder.requests.map(\.body) == ["{}"])
    }

    @Test func `a session that is closed ends each open exchange once and then does nothing`() {
        let peer = Peer()
        peer.recorder.onRequest = { _ in }
        peer.send(.request(1, end: true), .request(3), .headers(5, [(":method", "POST")], end: true))
        peer.recorder.onEnd = { $0.respond(status: 200) }
        peer.session.close()
        peer.session.close()
        #expect(peer.recorder.headIDs.sorted() == [1, 3])
        #expect(peer.recorder.endedIDs.sorted() == [1, 3])
        #expect(peer.session.openExchangeCount == 0 && peer.session.exchange(1) == nil)
        #expect(peer.session.isFinished && !peer.session.hasOutput)
        #expect(!peer.send(.ping()))
        #expect(peer.frames().isEmpty)
    }

    @Test func `a session that is released ends its open exchanges without notifying the delegate`() {
        let recorder = Recorder()
        recorder.onRequest = { _ in }
        var exchange: HTTPExchange?
        do {
            let peer = Peer(recorder)
            peer.send(.request(1, end: true))
            exchange = peer.session.exchange(1)
        }
        #expect(recorder.endedIDs == [])
        exchange?.respond(status: 200)
        #expect(exchange?.isAnswered == false)
    }

    @Test func `the version of nghttp2 has three numbers`() {
        #expect(NGHTTP2Version.text.split(separator: ".").compactMap { Int($0) }.count == 3)
    }
}
