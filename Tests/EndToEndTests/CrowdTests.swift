// SPDX-License-Identifier: Apache-2.0

internal import TestSupport
internal import Testing

extension DeviceAPIEndToEnd {
    /// Checks that a provider is served by a loop under load.
    struct CrowdTests {
        private let server: EphemeralServer
        private let peer: TLSPeer
        /// A request that the loop itself answers, so that the store does not matter.
        private let request: TLSPeer.Request

        init() async throws {
            server = try await EphemeralServer(options: ["--loops", "1"])
            peer = try TLSPeer(.init(server.target))
            let wrong = ProviderRequest(token: "bad", topic: server.topic.topic, providerToken: "bad")
            request = TLSPeer.Request(headers: wrong.allFields, body: "{}")
        }

        @Test(arguments: [false, true])
        func `a peer that updates its keys thousands of times does not delay a provider's answers`(
            asks: Bool
        ) async throws {
            let flood = try await peer.updateKeys(20_000, asks: asks, while: request)
            #expect(flood.finished)
            #expect(flood.answers >= 5, "one after the other, each in a turn of its own")
        }

        @Test func `the kernel has space for the descriptors of 1000 connections before the first one`() throws {
            let status = readText("/proc/\(server.process.identifier)/status")
            let count = try #require(status.firstMatch(of: /FDSize:\s*(\d+)/).flatMap { Int($0.1) })
            #expect(count >= 1000)
        }

        @Test func `hundreds of simultaneous handshakes succeed, and a provider waits for few of them`() async throws {
            let crowd = try await peer.greetTogether(300, server.process, before: request)
            #expect(crowd.early && crowd.connected == 300)
        }
    }
}
