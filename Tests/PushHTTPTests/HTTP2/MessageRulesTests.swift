// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PushHTTP

/// The fields of a head, and whether they form a valid one.
struct HeadCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var fields: [(String, String)]
    var isGood: Bool

    init(_ description: String, _ fields: [(String, String)], isGood: Bool) {
        testDescription = description
        self.fields = fields
        self.isGood = isGood
    }

    static let method = (":method", "POST")
    static let scheme = (":scheme", "https")
    static let path = (":path", "/3/device/00")
    static let authority = (":authority", "push.example:443")
    static let usual = [method, scheme, path, authority]

    static let all: [HeadCase] = [
        HeadCase("all there is", usual + [("host", "push.example"), ("te", "trailers")], isGood: true),
        HeadCase("another order", usual.reversed(), isGood: true),
        HeadCase("host alone", [method, scheme, path, ("host", "push.example")], isGood: true),
        HeadCase("neither host nor authority", [method, scheme, path], isGood: true),
        HeadCase("host and authority that differ", usual + [("host", "other.example")], isGood: true),
        HeadCase("no fields", [], isGood: false),
        HeadCase("no method", [scheme, path, authority], isGood: false),
        HeadCase("no scheme", [method, path, authority], isGood: false),
        HeadCase("no path", [method, scheme, authority], isGood: false),
        HeadCase("two methods", usual + [method], isGood: false),
        HeadCase("two schemes", usual + [scheme], isGood: false),
        HeadCase("two paths", usual + [path], isGood: false),
        HeadCase("two authorities", usual + [authority], isGood: false),
        HeadCase("two hosts", usual + [("host", "a"), ("host", "a")], isGood: false),
        HeadCase("a status", usual + [(":status", "200")], isGood: false),
        HeadCase("a protocol", usual + [(":protocol", "websocket")], isGood: false),
        HeadCase("an unknown pseudo-field", usual + [(":test", "ok")], isGood: false),
        HeadCase("a pseudo-field without a name", usual + [(":", "ok")], isGood: false),
        HeadCase("a capital in a pseudo-field", [(":Method", "POST"), scheme, path], isGood: false),
        HeadCase("a pseudo-field behind a field", [method, scheme, ("a", "b"), path], isGood: false),
        HeadCase("CONNECT", [(":method", "CONNECT"), authority], isGood: true),
        HeadCase("CONNECT without authority", [(":method", "CONNECT")], isGood: false),
        HeadCase("CONNECT with host", [(":method", "CONNECT"), ("host", "a")], isGood: false),
        HeadCase("CONNECT with scheme", [(":method", "CONNECT"), scheme, authority], isGood: false),
        HeadCase("CONNECT with path", [path, (":method", "CONNECT"), authority], isGood: false),
        HeadCase("two lengths", usual + [("content-length", "0"), ("content-length", "0")], isGood: false),
    ]
}

/// Wraps the rules in a class, because an expectation cannot contain a value that it changes.
private final class Request {
    private var rules = MessageRules()

    /// Creates the rules for a request whose head, with more fields, must be valid.
    static func withHead(_ fields: [(String, String)] = []) -> Request {
        let request = Request()
        #expect(request.take(HeadCase.usual + fields) && request.endFields(endsRequest: false))
        return request
    }

    func take(_ fields: [(String, String)]) -> Bool {
        fields.allSatisfy { takeField(Array($0.0.utf8), Array($0.1.utf8)) }
    }

    func takeField(_ name: [UInt8], _ value: [UInt8]) -> Bool { rules.takeField(name: name.span, value: value.span) }

    func endFields(endsRequest: Bool) -> Bool { rules.endFields(endsRequest: endsRequest) }

    func takeData(byteCount: Int) -> Bool { rules.takeData(byteCount: byteCount) }

    func endRequest() -> Bool { rules.endRequest() }
}

struct MessageRulesTests {
    /// Returns whether a field may follow the pseudo-fields of an ordinary request, or replace one of them.
    private static func accepts(_ name: [UInt8], _ value: [UInt8]) -> Bool {
        let request = Request()
        return request.take(HeadCase.usual.filter { Array($0.0.utf8) != name }) && request.takeField(name, value)
            && request.endFields(endsRequest: false)
    }

    private static func accepts(_ name: String, _ value: String) -> Bool {
        accepts(Array(name.utf8), Array(value.utf8))
    }

    /// Returns all bytes that are accepted between two letters.
    private static func bytes(where isGood: ([UInt8]) -> Bool) -> [UInt8] {
        (UInt8.min...UInt8.max).filter { isGood([UInt8(ascii: "a"), $0, UInt8(ascii: "a")]) }
    }

    @Test(arguments: HeadCase.all)
    func `a head is valid when each field is valid and none is missing`(head: HeadCase) {
        let request = Request()
        #expect((request.take(head.fields) && request.endFields(endsRequest: false)) == head.isGood)
    }

    @Test func `the name of a field is a token without capitals`() {
        #expect(
            Self.bytes { Self.accepts($0, []) } == Array("!#$%&'*+-.0123456789^_`abcdefghijklmnopqrstuvwxyz|~".utf8))
        #expect(!Self.accepts("", "a") && !Self.accepts("a:", "b") && Self.accepts("a", ""))
    }

    @Test func `the value of a field has no control character except the tab`() {
        let good: [UInt8] = [0x09] + (0x20...0xFF).filter { $0 != 0x7F }
        #expect(Self.bytes { Self.accepts(Array("x".utf8), $0) } == good)
    }

    /// Checks places in two words of eight bytes and in a rest, between bytes that are nearly invalid.
    @Test(arguments: 1..<19, [0x20, 0x7E, 0x80, 0xFF] as [UInt8])
    func `a control character is found wherever it stands in a value`(place: Int, neighbour: UInt8) {
        for bad in (UInt8.min..<0x20) + [0x7F] {
            var value = [0x61] + [UInt8](repeating: neighbour, count: 18) + [0x61]
            #expect(Self.accepts(Array("x".utf8), value))
            value[place] = bad
            #expect(Self.accepts(Array("x".utf8), value) == (bad == 0x09))
        }
    }

    @Test(arguments: ["a\n", "\ra", "\0"])
    func `the value of a field contains no line end and no NUL`(value: String) {
        #expect(!Self.accepts("x", value))
        #expect(Self.accepts("x", "a \t a"))
    }

    @Test func `a path contains no line end and no NUL`() {
        let good = (UInt8.min...UInt8.max).filter { ![0x00, 0x0A, 0x0D].contains($0) }
        #expect(Self.bytes { Self.accepts(Array(":path".utf8), $0) } == good)
        for path in [" ", "\t", " /3/device/ab cd ", "3/device", "*", "/\u{e9}"] {
            #expect(Self.accepts(":path", path))
        }
        #expect(!Self.accepts(":path", ""))
    }

    @Test func `a method is a token`() {
        let good = Array("!#$%&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~".utf8)
        #expect(Self.bytes { Self.accepts(Array(":method".utf8), $0) } == good)
        #expect(!Self.accepts(":method", ""))
    }

    @Test func `a scheme follows the URI grammar`() {
        let good = Array("+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
        #expect(Self.bytes { Self.accepts(Array(":scheme".utf8), $0) } == good)
        #expect(!Self.accepts(":scheme", "") && !Self.accepts(":scheme", "1a") && Self.accepts(":scheme", "h2+x"))
        #expect(!Self.accepts(":scheme", "+a"))
    }

    @Test(arguments: [":authority", "host"])
    func `an authority has the characters of host and port, and no user name`(name: String) {
        let good = Array(
            "!$%&'()*+-.0123456789:;=ABCDEFGHIJKLMNOPQRSTUVWXYZ[]_abcdefghijklmnopqrstuvwxyz~".utf8)
        #expect(Self.bytes { Self.accepts(Array(name.utf8), $0) } == good)
        #expect(!Self.accepts(name, "") && Self.accepts(name, "[::1]:443"))
    }

    @Test(arguments: ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"])
    func `a connection-specific field of HTTP1 is refused`(name: String) {
        #expect(!Self.accepts(name, "x") && !Self.accepts(name, ""))
        #expect(Self.accepts(String(name.dropLast()) + "y", "x"))
    }

    @Test(arguments: [
        ("trailers", true), ("Trailers", true), ("", false), ("trailer", false), ("trailers, deflate", false),
        ("gzip", false),
    ])
    func `the te field may contain only trailers`(value: String, isGood: Bool) {
        #expect(Self.accepts("te", value) == isGood)
    }

    @Test(arguments: [
        ("0", true), ("007", true), ("999999999999999999", true), ("1000000000000000000", false), ("", false),
        ("-1", false), ("+1", false), ("1,1", false), ("1 1", false), ("0x1", false), ("1.0", false),
    ])
    func `a content-length is a number that fits`(value: String, isGood: Bool) {
        #expect(Self.accepts("content-length", value) == isGood)
    }

    /// Checks bodies that arrive in pieces against a content-length.
    @Test(
        arguments: [
            (nil, [], true), (nil, [5, 0, 7], true), ("0", [], true), ("0", [0], true), ("0", [1], false),
            ("3", [], false), ("3", [2], false), ("3", [3], true), ("3", [1, 1, 1], true), ("3", [4], false),
            ("3", [2, 2], false),
        ] as [(String?, [Int], Bool)])
    func `a body is as long as its content-length`(length: String?, pieces: [Int], isGood: Bool) {
        for hasTrailers in [false, true] {
            let request = Request.withHead(length.map { [("content-length", $0)] } ?? [])
            let areTaken = pieces.allSatisfy { request.takeData(byteCount: $0) }
            if hasTrailers {
                #expect((areTaken && request.take([("a", "b")]) && request.endFields(endsRequest: true)) == isGood)
            } else {
                #expect((areTaken && request.endRequest()) == isGood)
            }
        }
    }

    @Test(arguments: [("0", true), ("1", false)])
    func `a request that ends with its head has a body of length zero`(length: String, isGood: Bool) {
        let request = Request()
        #expect(request.take(HeadCase.usual + [("content-length", length)]))
        #expect(request.endFields(endsRequest: true) == isGood)
    }

    @Test(arguments: [
        (("a", "b"), true, true), (("a", "b"), false, false), ((":path", "/"), true, false), (("A", "b"), true, false),
        (("connection", "close"), true, false), (("content-length", "0"), true, true),
        (("content-length", "1"), true, false),
    ])
    func `trailers are fields that end the request`(field: (String, String), endsRequest: Bool, isGood: Bool) {
        let request = Request.withHead()
        #expect((request.take([field]) && request.endFields(endsRequest: endsRequest)) == isGood)
    }

    /// Checks events that are each valid in one of the earlier states.
    @Test(arguments: 0..<6)
    func `a malformed message stays malformed, whatever follows`(event: Int) {
        let request = Request()
        #expect(!request.endFields(endsRequest: false))
        switch event {
        case 0: #expect(!request.take([(":method", "POST")]))
        case 1: #expect(!request.take([("a", "b")]))
        case 2: #expect(!request.endFields(endsRequest: true))
        case 3: #expect(!request.endFields(endsRequest: false))
        case 4: #expect(!request.takeData(byteCount: 0))
        default: #expect(!request.endRequest())
        }
    }

    @Test func `a body before the end of the head or after trailers is refused`() {
        #expect(!Request().takeData(byteCount: 1))
        let request = Request.withHead()
        #expect(request.take([("a", "b")]))
        #expect(!request.takeData(byteCount: 1))
    }
}
