// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import TestSupport
import Testing

/// A request that violates RFC 9113, section 8, as a client's frames.
struct MalformedRequest: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var frames: [Frame]

    init(_ description: String, _ frames: Frame...) {
        testDescription = description
        self.frames = frames
    }

    private static let pseudo = [
        (":method", "POST"), (":scheme", "https"), (":path", "/"), (":authority", "push.example"),
    ]

    private static func head(without name: String) -> Frame {
        .headers(1, pseudo.filter { $0.0 != name }, end: true)
    }

    private static func head(with fields: (String, String)...) -> Frame { .headers(1, pseudo + fields, end: true) }

    private static func upload(saying length: String, _ pieces: Frame...) -> [Frame] {
        [.request(1, fields: [("content-length", length)])] + pieces
    }

    static let all: [MalformedRequest] = [
        MalformedRequest("8.1: a second HEADERS frame without END_STREAM", .request(1), .headers(1, [("a", "b")])),
        MalformedRequest("8.1: an empty one", .request(1), .headers(1, [])),
        MalformedRequest("8.2.1: capitals in a name", head(with: ("X-TEST", "ok"))),
        MalformedRequest("8.2.1: a name that is no token", head(with: ("x test", "ok"))),
        MalformedRequest("8.2.1: an empty name", head(with: ("", "ok"))),
        MalformedRequest("8.2.1: a line break in a value", head(with: ("a", "b\r\nc: d"))),
        MalformedRequest("8.2.1: NUL in a value", head(with: ("a", "b\0c"))),
        MalformedRequest("8.2.2: connection", head(with: ("connection", "keep-alive"))),
        MalformedRequest("8.2.2: te that says more", head(with: ("trailers", "test"), ("te", "trailers, deflate"))),
        MalformedRequest("8.3: an unknown pseudo-field", .headers(1, pseudo + [(":test", "ok")], end: true)),
        MalformedRequest("8.3: a response's pseudo-field", .headers(1, pseudo + [(":status", "200")], end: true)),
        MalformedRequest(
            "8.3: a pseudo-field in trailers", .request(1), .data(1, [1]), .headers(1, [(":method", "GET")], end: true)),
        MalformedRequest(
            "8.3: a pseudo-field behind a field", .headers(1, [("x-test", "ok")] + pseudo, end: true)),
        MalformedRequest("8.3.1: an empty path", .request(1, path: "", end: true)),
        MalformedRequest("8.3.1: a line break in a path", .request(1, path: "/a\r\nb", end: true)),
        MalformedRequest("8.3.1: no method", head(without: ":method")),
        MalformedRequest("8.3.1: no scheme", head(without: ":scheme")),
        MalformedRequest("8.3.1: no path", head(without: ":path")),
        MalformedRequest("8.3.1: two methods", .headers(1, pseudo + [(":method", "POST")], end: true)),
        MalformedRequest("8.3.1: two schemes", .headers(1, pseudo + [(":scheme", "https")], end: true)),
        MalformedRequest("8.3.1: two paths", .headers(1, pseudo + [(":path", "/")], end: true)),
        MalformedRequest("8.3.1: a user in the authority", .headers(1, pseudo.dropLast() + [(":authority", "a@b")])),
        MalformedRequest("8.1.1: a shorter body", head(with: ("content-length", "1"))),
        MalformedRequest("8.1.1: a shorter body in DATA", upload(saying: "5", .data(1, [1, 2, 3, 4], end: true))),
        MalformedRequest("8.1.1: a longer body", upload(saying: "1", .data(1, [1, 2]))),
        MalformedRequest(
            "8.1.1: a longer body in pieces", upload(saying: "1", .data(1, [1]), .data(1, [2], end: true))),
        MalformedRequest(
            "8.1.1: a shorter body and trailers",
            upload(saying: "2", .data(1, [1]), .headers(1, [("a", "b")], end: true))),
        MalformedRequest("8.1.1: a length that is not a number", head(with: ("content-length", "1a"))),
        MalformedRequest("8.5: CONNECT with a path", .headers(1, [(":method", "CONNECT")] + pseudo.dropFirst())),
    ]

    private init(_ description: String, _ frames: [Frame]) {
        testDescription = description
        self.frames = frames
    }
}

struct HTTP2MessageTests {
    @Test(arguments: MalformedRequest.all)
    func `a malformed request resets only its stream`(request: MalformedRequest) {
        let peer = Peer()
        peer.send(request.frames.flatMap(\.bytes))
        #expect(peer.frames() == [.reset(1, code: ErrorCode.protocolError)])
        #expect(peer.recorder.requests.isEmpty && peer.recorder.headIDs == peer.recorder.endedIDs)
        #expect(peer.session.openExchangeCount == 0 && peer.session.failure == nil)
        // Later frames on the stream are ignored after its reset. Before it they are ignored too, unless the peer had
        // ended it.
        let more = [Frame.data(1, [1, 2, 3]), .headers(1, [("A", "b")], end: true)]
        guard !request.frames.contains(where: \.endsStream) else {
            #expect(Peer.goAwayCode(peer.exchange(more[0])) == ErrorCode.streamClosed)
            return
        }
        #expect(peer.send(more.flatMap(\.bytes)) && peer.frames().isEmpty)
        #expect(peer.exchange(.request(3, end: true)).map(\.endsStream) == [true])
        let eager = Peer()
        eager.send((request.frames + more).flatMap(\.bytes))
        #expect(eager.frames() == [.reset(1, code: ErrorCode.protocolError)])
        #expect(eager.recorder.requests.isEmpty && eager.session.failure == nil)
    }

    @Test func `a PUSH_PROMISE from a client ends the session`() {
        let peer = Peer()
        peer.recorder.onRequest = { _ in }
        peer.send(.request(1, end: true))
        let payload = Frame.bigEndian(2) + HPACK.literal(":method", "GET")
        let promise = Frame(type: 5, flags: Frame.endHeaders, stream: 1, payload: payload)
        #expect(Peer.goAwayCode(peer.exchange(promise)) == ErrorCode.protocolError)
        #expect(peer.session.isFinished)
    }

    @Test(arguments: [
        "/3/device/ab cd", " /3/device/ab", "/3/device/ab ", "/3/device/\tab", "/é", "3/device", "*", " ",
    ])
    func `an invalid path reaches the delegate unchanged, so that an answer can explain it`(path: String) {
        let peer = Peer()
        peer.recorder.onRequest = { $0.respond(status: 400) }
        #expect(peer.exchange(.request(1, path: path, end: true)).map(\.endsStream) == [true])
        #expect(peer.recorder.requests.map(\.path) == [path])
    }

    @Test(arguments: [
        [], [("host", "push.example")], [(":authority", "push.example")], [(":authority", "a"), ("host", "b")],
    ])
    func `a request names its host in either field or not at all`(fields: [(String, String)]) {
        let peer = Peer()
        let head = [(":method", "POST"), (":scheme", "https"), (":path", "/")] + fields
        #expect(peer.exchange(.headers(1, head, end: true)).map(\.type) == [Frame.Kind.headers])
        #expect(peer.recorder.requests.map(\.path) == ["/"])
    }

    @Test func `CONNECT arrives as an unsupported method, without a path`() {
        let peer = Peer()
        peer.recorder.onRequest = { $0.respond(status: 405) }
        let head = [(":method", "CONNECT"), (":authority", "push.example:443")]
        #expect(peer.exchange(.headers(1, head, end: true)).map(\.type) == [Frame.Kind.headers])
        #expect(
            peer.recorder.requests == [.init(id: 1, method: .other, path: "", body: "", overflowed: false)])
    }

    @Test func `a content-length counts the data without padding, in pieces of any size`() {
        let peer = Peer()
        let padded = Frame(type: Frame.Kind.data, flags: Frame.padded, stream: 1, payload: [3, 65, 0, 0, 0])
        let answer = peer.exchange(
            .request(1, fields: [("content-length", "3")]), padded, .data(1, [66]), .data(1, [67], end: true))
        #expect(answer.contains { $0.endsStream })
        #expect(peer.recorder.requests.map(\.body) == ["ABC"])
    }

    @Test func `a malformed end of a request that is being answered resets its stream`() {
        let peer = Peer()
        peer.recorder.onHead = { $0.beginStream(status: 200) }
        #expect(peer.exchange(.request(1)).map(\.type) == [Frame.Kind.headers])
        #expect(peer.exchange(.headers(1, [(":path", "/")], end: true)) == [.reset(1, code: ErrorCode.protocolError)])
        #expect(peer.recorder.endedIDs == [1])
    }

    @Test(arguments: [204, 304])
    func `an answer without a body consists of its fields only`(status: Int) {
        let peer = Peer()
        peer.recorder.onRequest = { $0.respond(status: status) }
        let answer = peer.exchange(.request(1, method: "DELETE", end: true))
        #expect(answer.map(\.type) == [Frame.Kind.headers] && answer[0].endsStream)
        #expect(peer.fields(of: answer[0]) == [":status": "\(status)"])
    }
}
