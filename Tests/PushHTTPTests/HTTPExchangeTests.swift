// SPDX-License-Identifier: Apache-2.0

import PushHTTP
import Testing

/// What the server may not do to an exchange.
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

    @Test func `a field that is added behind the answer stops the process`() async throws {
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
