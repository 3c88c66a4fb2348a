// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import PushCurl
import PushNet
import Testing

@Suite struct ThreadClientTests {
    /// Waits until all requests have a result.
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

    @Test func `requests run in parallel, and a slow one does not delay the others`() throws {
        let server = try ScriptedServer()
        let client = try #require(ThreadClient())
        var slow = request(server, "/slow")
        slow.timeout = .seconds(2)
        let results = results(client, [slow, request(server, "/a"), request(server, "/garbage")])
        #expect(throws: CurlError.self) { try results[0]?.get() }
        #expect(try results[1]?.get().status == 200)
        #expect(throws: CurlError.self) { try results[2]?.get() }
    }

    @Test func `a client that is released drops its pending requests`() throws {
        let server = try ScriptedServer()
        let told = Gathered()
        do {
            let client = try #require(ThreadClient())
            client.start(request(server, "/slow")) { told.results[0] = $0 }
            client.wait(atMost: .milliseconds(100))
        }
        #expect(told.results.isEmpty)
    }

    @Test func `a request that fails before any wait is reported immediately`() throws {
        let client = try #require(ThreadClient())
        let told = Gathered()
        client.start(HTTPRequest(method: "GET", url: "nosuch://127.0.0.1/")) { told.results[0] = $0 }
        // A missing wake-up would last longer than the test run's time limit.
        client.wait(atMost: .seconds(3600))
        #expect(throws: CurlError.self) { try told.results[0]?.get() }
    }

    @Test func `another thread can wake the client, even before it waits`() throws {
        let client = try #require(ThreadClient())
        let waker = client.waker
        waker.wake()
        // Each missing wake-up would last longer than the test run's time limit.
        client.wait(atMost: .seconds(3600))
        let thread = PushNet.Thread(name: "waker") { waker.wake() }
        client.wait(atMost: .seconds(3600))
        thread.join()
    }

    @Test func `only the head counts in an answer whose body is ignored`() throws {
        let server = try ScriptedServer()
        let client = try #require(ThreadClient())
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
