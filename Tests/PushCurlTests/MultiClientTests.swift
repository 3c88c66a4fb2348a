// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import PushCurl
import Testing

@Suite struct MultiClientTests {
    @Test func `many requests share one HTTP/2 connection`() throws {
        let certificates = try Certificates()
        let server = try NghttpServer(certificates)
        let driven = DrivenClient()
        var request = HTTPRequest(method: "POST", url: "https://localhost:\(server.port)/ca.pem")
        request.caFile = certificates.authority
        request.body = Array("hello".utf8)
        var answers: [HTTPResponse] = []
        for _ in 0..<50 {
            driven.client.start(request) { if case .success(let response) = $0 { answers.append(response) } }
        }
        #expect(answers.isEmpty)
        #expect(driven.loop.run { answers.count == 50 })
        #expect(answers.allSatisfy { $0.isHTTP2 && $0.body == request.body })
        #expect(answers.map(\.newConnectionCount).reduce(0, +) == 1)
    }

    @Test func `a certificate inspection trusts no server, and its connection is not reused`() throws {
        let certificates = try Certificates()
        let server = try NghttpServer(certificates)
        let driven = DrivenClient()
        var request = HTTPRequest(method: "GET", url: "https://localhost:\(server.port)/ca.pem")
        request.looksAtCertificates = true
        var shown: [String]?
        let transfer = driven.client.connect(
            request, onConnect: { shown = $0.certificates.map { String(decoding: $0, as: UTF8.self) } },
            onFailure: { Issue.record("\($0)") })
        #expect(driven.loop.run { shown != nil })
        driven.client.cancel(transfer)
        let own = try String(contentsOfFile: certificates.certificate, encoding: .utf8)
        #expect(shown?.map { $0.filter { !$0.isWhitespace } } == [own.filter { !$0.isWhitespace }])
        request.looksAtCertificates = false
        #expect(throws: CurlError.self) { try driven.send(request) }
        request.caFile = certificates.authority
        #expect(try driven.send(request).newConnectionCount == 1)
    }

    @Test func `a stream delivers its head, then its pieces, until it is canceled`() throws {
        let server = try ScriptedServer()
        let driven = DrivenClient()
        var events: [String] = []
        var hasEnded = false
        var request = HTTPRequest(method: "GET", url: "http://127.0.0.1:\(server.port)/stream")
        request.timeout = nil
        let transfer = driven.client.start(
            request, onHead: { events.append("head \($0.status)") }, onBody: { events.append("\($0.count)") }
        ) { _ in hasEnded = true }
        #expect(driven.loop.run { events.count >= 4 })
        #expect(events.first == "head 200")
        driven.client.cancel(transfer)
        driven.client.cancel(transfer)
        let count = events.count
        _ = try driven.send(HTTPRequest(method: "GET", url: "http://127.0.0.1:\(server.port)/"))
        #expect(events.count == count)
        #expect(!hasEnded)
    }

    @Test func `a stream's closures may start, cancel and abandon requests`() throws {
        let server = try ScriptedServer()
        let driven = DrivenClient()
        let url = "http://127.0.0.1:\(server.port)"
        var stream: TransferID?
        var nestedStatus: Int?
        var abandoned: CurlError?
        stream = driven.client.start(
            HTTPRequest(method: "GET", url: "\(url)/stream"),
            onHead: { _ in
                driven.client.start(HTTPRequest(method: "GET", url: "\(url)/missing")) {
                    nestedStatus = try? $0.get().status
                }
            },
            onBody: { _ in
                guard nestedStatus != nil, let running = stream else { return }
                stream = nil
                driven.client.cancel(running)
                driven.client.start(HTTPRequest(method: "GET", url: "\(url)/slow")) {
                    if case .failure(let error) = $0 { abandoned = error }
                }
                driven.client.abandonConnections()
            }
        ) { _ in Issue.record("a canceled stream must not complete") }
        #expect(driven.loop.run { abandoned != nil })
        #expect(nestedStatus == 404)
        #expect(abandoned?.kind == .interrupted)
        #expect(try driven.send(HTTPRequest(method: "GET", url: "\(url)/")).newConnectionCount == 1)
    }

    @Test func `a server that is killed interrupts the stream, and the next request fails to connect`() throws {
        let server = try ScriptedServer()
        let driven = DrivenClient()
        var pieceCount = 0
        var result: Result<HTTPResponse, CurlError>?
        let request = HTTPRequest(method: "GET", url: "http://127.0.0.1:\(server.port)/stream")
        driven.client.start(request, onBody: { _ in pieceCount += 1 }) { result = $0 }
        #expect(driven.loop.run { pieceCount > 0 })
        server.kill()
        #expect(driven.loop.run { result != nil })
        #expect(throws: CurlError.self) { try result?.get() }
        let error = #expect(throws: CurlError.self) { try driven.send(request) }
        #expect(error?.kind == .connect)
    }

    @Test func `a frozen server's connection is abandoned, and a running server is reconnected`() throws {
        let certificates = try Certificates()
        let frozen = try ScriptedServer(certificates: certificates)
        let driven = DrivenClient()
        var request = HTTPRequest(method: "GET", url: "https://localhost:\(frozen.port)/stream")
        request.caFile = certificates.authority
        request.timeout = nil
        var pieceCount = 0
        var result: Result<HTTPResponse, CurlError>?
        driven.client.start(request, onBody: { _ in pieceCount += 1 }) { result = $0 }
        #expect(driven.loop.run { pieceCount > 0 })
        frozen.freeze()
        driven.client.abandonConnections()
        #expect(throws: CurlError.self) { try result?.get() }
        let live = try ScriptedServer(certificates: certificates)
        request.url = "https://localhost:\(live.port)/"
        request.timeout = .seconds(10)
        #expect(try driven.send(request).status == 200)
    }

    @Test func `a request that cannot be sent fails later, not inside start`() throws {
        let driven = DrivenClient()
        var request = HTTPRequest(method: "GET", url: "http://127.0.0.1:1/")
        request.fields = [("x", "a\nb")]
        var result: Result<HTTPResponse, CurlError>?
        driven.client.start(request) { result = $0 }
        #expect(result == nil)
        #expect(driven.loop.run { result != nil })
        let error = #expect(throws: CurlError.self) { try result?.get() }
        #expect(error?.message.contains("control character") == true)
    }

    @Test func `a client that is released with running requests calls no completion`() throws {
        let server = try ScriptedServer()
        var completionCount = 0
        var hasBody = false
        do {
            let driven = DrivenClient()
            driven.client.start(
                HTTPRequest(method: "GET", url: "http://127.0.0.1:\(server.port)/stream"),
                onBody: { _ in hasBody = true }
            ) { _ in completionCount += 1 }
            #expect(driven.loop.run { hasBody })
        }
        #expect(completionCount == 0)
    }
}
