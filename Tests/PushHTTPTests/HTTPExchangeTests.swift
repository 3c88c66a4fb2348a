// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import TestSupport
import Testing

/// Checks that misuse of an exchange by the server stops the process.
struct HTTPExchangeTests {
    @Test func `an exchange that is answered twice stops the process`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let peer = Peer()
            peer.recorder.onRequest = { exchange in
                exchange.respond(status: 200)
                exchange.respond(status: 200)
            }
            peer.send(.request(1, end: true))
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("an exchange was answered twice"))
    }

    @Test func `adding a field after the answer stops the process`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let peer = HTTP1Peer()
            peer.recorder.onRequest = { exchange in
                exchange.beginStream(status: 200)
                exchange.addField("a", "b")
            }
            peer.send("GET / HTTP/1.0\r\n\r\n")
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("a field was added to an answer that has begun"))
    }
}
