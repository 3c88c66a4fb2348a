// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import PushCurl
import Testing

@Suite struct HTTPClientTests {
    private struct Facts: Decodable {
        var method: String
        var path: String
        var fields: [String: String]
        var body: String
        var peer: String
    }

    private func facts(_ response: HTTPResponse) throws -> Facts {
        try JSONDecoder().decode(Facts.self, from: Data(response.body))
    }

    @Test(arguments: ["GET", "POST", "PUT", "DELETE", "PATCH"])
    func `a request arrives with its method, its fields and its body`(method: String) throws {
        let server = try ScriptedServer()
        var request = HTTPRequest(method: method, url: "http://127.0.0.1:\(server.port)/v1/a?b=c")
        request.fields = [("authorization", "Bearer s3cret"), ("x-empty", "")]
        if method != "GET" { request.body = Array(#"{"name":"Zoë"}"#.utf8) }
        let response = try HTTPClient().send(request)
        let facts = try facts(response)
        #expect(response.status == 200)
        #expect(!response.isHTTP2)
        #expect(response.value(of: "x-mixed-case") == "Value of it")
        #expect(facts.method == method)
        #expect(facts.path == "/v1/a?b=c")
        #expect(facts.fields["authorization"] == "Bearer s3cret")
        #expect(facts.fields["x-empty"]?.isEmpty == true)
        #expect(facts.fields["Expect"] == nil && facts.fields["Content-Type"] == nil)
        #expect(Array(facts.body.utf8) == request.body)
    }

    @Test func `a POST without a body declares an empty one`() throws {
        let server = try ScriptedServer()
        let response = try HTTPClient().send(HTTPRequest(method: "POST", url: "http://127.0.0.1:\(server.port)/"))
        #expect(try facts(response).fields["Content-Length"] == "0")
    }

    @Test func `an error status is an answer, and HEAD has no body`() throws {
        let server = try ScriptedServer()
        let client = HTTPClient()
        #expect(
            try client.send(HTTPRequest(method: "GET", url: "http://127.0.0.1:\(server.port)/missing")).status == 404)
        let head = try client.send(HTTPRequest(method: "HEAD", url: "http://127.0.0.1:\(server.port)/"))
        #expect(head.status == 200 && head.body.isEmpty)
    }

    @Test func `a connection is reused unless a fresh one is requested`() throws {
        let server = try ScriptedServer()
        let client = HTTPClient()
        var request = HTTPRequest(method: "GET", url: "http://127.0.0.1:\(server.port)/")
        let first = try client.send(request)
        let second = try client.send(request)
        request.needsFreshConnection = true
        let third = try client.send(request)
        #expect(first.newConnectionCount == 1)
        #expect(second.newConnectionCount == 0)
        #expect(third.newConnectionCount == 1)
        #expect(try facts(first).peer == facts(second).peer)
        #expect(try facts(third).peer != facts(second).peer)
    }

    @Test func `a request can use a UNIX socket or another address`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "posthorn-\(UUID().uuidString).sock").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let unixServer = try ScriptedServer(unixSocket: path)
        var request = HTTPRequest(method: "GET", url: "http://localhost/v1/status")
        request.unixSocket = path
        #expect(try facts(HTTPClient().send(request)).path == "/v1/status")
        withExtendedLifetime(unixServer) {}

        let server = try ScriptedServer()
        var other = HTTPRequest(method: "GET", url: "http://push.example.test/")
        other.connectTo = "127.0.0.1:\(server.port)"
        #expect(try facts(HTTPClient().send(other)).fields["Host"] == "push.example.test")
    }

    @Test func `a certificate is trusted only under the given authority, and only for its host`() throws {
        let certificates = try Certificates()
        let server = try ScriptedServer(certificates: certificates)
        var request = HTTPRequest(method: "GET", url: "https://localhost:\(server.port)/")
        let unknown = #expect(throws: CurlError.self) { try HTTPClient().send(request) }
        #expect(unknown?.kind == .unknownAuthority)
        request.caFile = certificates.authority
        #expect(try HTTPClient().send(request).status == 200)

        let stranger = try Certificates(host: "DNS:elsewhere.test")
        let strangeServer = try ScriptedServer(certificates: stranger)
        var strange = HTTPRequest(method: "GET", url: "https://localhost:\(strangeServer.port)/")
        strange.caFile = stranger.authority
        let error = #expect(throws: CurlError.self) { try HTTPClient().send(strange) }
        #expect(error?.kind == .tls)
    }

    /// The parameters of two authorities' keys, for each of which OpenSSL reports a wrong signature with another code.
    private static let keys = [
        ("ec -pkeyopt ec_paramgen_curve:P-256", "ec -pkeyopt ec_paramgen_curve:P-256"),
        ("ec -pkeyopt ec_paramgen_curve:P-256", "ec -pkeyopt ec_paramgen_curve:P-384"),
        ("rsa:2048", "rsa:2048"), ("rsa:2048", "rsa:3072"), ("rsa:2048", "ec -pkeyopt ec_paramgen_curve:P-256"),
    ]

    @Test(arguments: keys)
    func `an authority that only has the name of the trusted one is unknown`(trusted: String, other: String) throws {
        let certificates = try Certificates(key: trusted)
        let impostor = try Certificates(key: other)
        let server = try ScriptedServer(certificates: impostor)
        var request = HTTPRequest(method: "GET", url: "https://localhost:\(server.port)/")
        request.caFile = certificates.authority
        let error = #expect(throws: CurlError.self) { try HTTPClient().send(request) }
        #expect(error?.kind == .unknownAuthority, "\(error?.message ?? "")")
    }

    @Test func `a text of authorities is trusted in place of a file`() throws {
        let certificates = try Certificates()
        let server = try ScriptedServer(certificates: certificates)
        var request = HTTPRequest(method: "GET", url: "https://localhost:\(server.port)/")
        request.caText = Array(try Data(contentsOf: URL(fileURLWithPath: certificates.authority)))
        request.caFile = "/missing.pem"
        #expect(try HTTPClient().send(request).status == 200)
        let other = try Certificates()
        request.caText = Array(try Data(contentsOf: URL(fileURLWithPath: other.authority)))
        request.caFile = certificates.authority
        let error = #expect(throws: CurlError.self) { try HTTPClient().send(request) }
        #expect(error?.kind == .unknownAuthority, "\(error?.message ?? "")")
    }

    @Test func `HTTP/2 is used when ALPN offers it, and its absence is an error when it is required`() throws {
        let certificates = try Certificates()
        let server = try NghttpServer(certificates)
        var request = HTTPRequest(method: "POST", url: "https://localhost:\(server.port)/ca.pem")
        request.caFile = certificates.authority
        request.requiresHTTP2 = true
        request.body = Array("echo this".utf8)
        let client = HTTPClient()
        let response = try client.send(request)
        #expect(response.isHTTP2)
        #expect(response.body == request.body)
        #expect(try client.send(request).newConnectionCount == 0)

        let oldServer = try ScriptedServer(certificates: certificates)
        request.url = "https://localhost:\(oldServer.port)/"
        let error = #expect(throws: CurlError.self) { try HTTPClient().send(request) }
        #expect(error?.message == "the server does not speak HTTP/2")
    }

    @Test func `the certificates of a server that is not trusted can be read`() throws {
        let certificates = try Certificates()
        let server = try NghttpServer(certificates)
        let request = HTTPRequest(method: "GET", url: "https://localhost:\(server.port)/ca.pem")
        let client = HTTPClient()
        #expect(throws: CurlError.self) { try client.send(request) }
        let shown = try client.certificates(for: request).map { String(decoding: $0, as: UTF8.self) }
        let own = try String(contentsOfFile: certificates.certificate, encoding: .utf8)
        #expect(shown.map { $0.filter { !$0.isWhitespace } } == [own.filter { !$0.isWhitespace }])
        let error = #expect(throws: CurlError.self) { try client.send(request) }
        #expect(error?.kind == .unknownAuthority, "the next request verifies the server")
    }

    @Test func `a server without TLS is not reported as untrusted`() throws {
        let server = try ScriptedServer()
        let request = HTTPRequest(method: "GET", url: "https://127.0.0.1:\(server.port)/")
        let error = #expect(throws: CurlError.self) { try HTTPClient().send(request) }
        #expect(error?.kind == .connect, "\(error?.message ?? "")")
    }

    @Test(arguments: [("/cut", CurlError.Kind.interrupted), ("/garbage", .other), ("/slow", .timeout)])
    func `a broken answer is an error that says what happened`(path: String, kind: CurlError.Kind) throws {
        let server = try ScriptedServer()
        var request = HTTPRequest(method: "GET", url: "http://127.0.0.1:\(server.port)\(path)")
        if kind == .timeout { request.timeout = .milliseconds(200) }
        let error = #expect(throws: CurlError.self) { try HTTPClient().send(request) }
        #expect(error?.kind == kind)
        #expect(error?.message.isEmpty == false)
    }

    @Test(arguments: [
        ("http://127.0.0.1:1/", CurlError.Kind.connect), ("http://name.invalid/", .resolve),
        ("file:///etc/passwd", .other),
        ("ftp://127.0.0.1/", .other), ("", .other), ("http://127.0.0.1/\u{0}x", .other), ("http://a\r\nb/", .other),
    ])
    func `a URL that leads nowhere is an error`(url: String, kind: CurlError.Kind) {
        let error = #expect(throws: CurlError.self) { try HTTPClient().send(HTTPRequest(method: "GET", url: url)) }
        #expect(error?.kind == kind)
    }

    @Test(arguments: [("x", "a\r\nevil: 1"), ("x", "a\u{0}"), ("", "a"), ("a b", "c"), ("a:b", "c"), ("é", "c")])
    func `a field that would change the request's framing is refused`(name: String, value: String) {
        var request = HTTPRequest(method: "GET", url: "http://127.0.0.1:1/")
        request.fields = [(name, value)]
        let error = #expect(throws: CurlError.self) { try HTTPClient().send(request) }
        #expect(error?.kind == .other)
    }

    @Test(arguments: [(99, true), (100, true), (101, false)])
    func `an answer may be as long as the limit, and not longer`(byteCount: Int, isTaken: Bool) throws {
        let server = try ScriptedServer()
        var request = HTTPRequest(method: "GET", url: "http://127.0.0.1:\(server.port)/bytes/\(byteCount)")
        request.answerByteCountMax = 100
        if isTaken {
            #expect(try HTTPClient().send(request).body.count == byteCount)
        } else {
            #expect(throws: CurlError.self) { try HTTPClient().send(request) }
        }
    }
}
