// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushCurl
import PushNet
import Testing

@Suite struct ThreadClientTests {
    /// Waits until so many results are there.
    private func results(
        _ client: ThreadClient, _ requests: [HTTPRequest]
    ) -> [Int: Result<HTTPResponse, CurlError>] {
        let gathered = Gathered()
        for (index, request) in requests.enumerated() {
            client.start(request) { gathered.results[index] = $0 }
        }
        while gathered.results.count < requests.count { client.wait(atMost: .seconds(5)) }
        return gathered.results
    }

    private final class Gathered {
        var results: [Int: Result<HTTPResponse, CurlError>] = [:]
    }

    private func request(_ server: ScriptedServer, _ path: String) -> HTTPRequest {
        var request = HTTPRequest(method: "POST", url: "http://127.0.0.1:\(server.port)\(path)")
        request.body = Array("x".utf8)
        return request
    }

    @Test func `requests go at the same time, and a slow one keeps nobody waiting`() throws {
        let server = try ScriptedServer()
        let client = ThreadClient()
        var slow = request(server, "/slow")
        slow.timeout = .seconds(2)
        let results = results(client, [slow, request(server, "/a"), request(server, "/garbage")])
        #expect(throws: CurlError.self) { try results[0]?.get() }
        #expect(try results[1]?.get().status == 200)
        #expect(throws: CurlError.self) { try results[2]?.get() }
    }

    @Test func `a client that goes takes what is under way with it`() throws {
        let server = try ScriptedServer()
        let told = Gathered()
        do {
            let client = ThreadClient()
            client.start(request(server, "/slow")) { told.results[0] = $0 }
            client.wait(atMost: .milliseconds(100))
        }
        #expect(told.results.isEmpty)
    }

    @Test func `a request that ends before there is anything to wait for is told at once`() {
        let client = ThreadClient()
        let told = Gathered()
        client.start(HTTPRequest(method: "GET", url: "nosuch://127.0.0.1/")) { told.results[0] = $0 }
        // It would be the end of the test run's patience.
        client.wait(atMost: .seconds(3600))
        #expect(throws: CurlError.self) { try told.results[0]?.get() }
    }

    @Test func `another thread wakes it, also before it waits`() {
        let client = ThreadClient()
        let waker = client.waker
        waker.wake()
        // Without the wake-up each would be the end of the test run's patience.
        client.wait(atMost: .seconds(3600))
        let thread = PushNet.Thread(name: "waker") { waker.wake() }
        client.wait(atMost: .seconds(3600))
        thread.join()
    }

    @Test func `of an answer whose body is ignored only the head counts`() throws {
        let server = try ScriptedServer()
        let client = ThreadClient()
        for path in ["/bytes/10", "/bytes/5000000", "/cut"] {
            var request = request(server, path)
            request.ignoresBody = true
            request.answerByteCountMax = 1000
            let response = try #require(try results(client, [request])[0]?.get(), "\(path)")
            #expect(response.status == 200 && response.body.isEmpty, "\(path)")
        }
        var garbage = request(server, "/garbage")
        garbage.ignoresBody = true
        #expect(throws: CurlError.self) { try results(client, [garbage])[0]?.get() }
    }
}
