// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension SecurityEndToEnd {
    /// Checks the server against peers without a credential that try to exhaust its resources.
    struct StrangerTests {
        private static func residentMebibytes(_ process: RunningProcess) -> Int {
            let status = readText("/proc/\(process.identifier)/status")
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
            return (line?.split(separator: " ").compactMap { Int($0) }.first ?? 0) / 1024
        }

        private static func request(_ server: EphemeralServer, _ client: HTTP2Client) async throws -> ProviderRequest {
            ProviderRequest(
                token: server.topic.token, topic: server.topic.topic, providerToken: try await client.providerToken())
        }

        @Test(.tags(.slow), .limitsMemory, arguments: ["references", "bodies"])
        func `endless requests hold little memory, and all of it is released`(kind: String) async throws {
            let server = try await EphemeralServer()
            let provider = try await HTTP2Client(server.target)
            let request = try await Self.request(server, provider)
            #expect(try await provider.send(request).status == 200)
            let base = Self.residentMebibytes(server.process)
            let strangers = try StrangerPeers(server.target)
            if kind == "references" {
                _ = try await strangers.holdReferences(connections: 32, streams: 2000)
            } else {
                _ = try await strangers.holdBodies(connections: 32, streams: 100)
            }
            #expect(Self.residentMebibytes(server.process) - base < 64)
            #expect(try await provider.send(request).status == 200)
            try await strangers.close()
            try await eventually(
                "memory is back", within: .seconds(60),
                evidence: { "\(base) MiB, now \(Self.residentMebibytes(server.process))" }
            ) {
                Self.residentMebibytes(server.process) - base < 16
            }
        }

        @Test func `a server with a limit of one connection serves its peers one after the other`() async throws {
            let server = try await EphemeralServer(options: ["--connections", "1"])
            let strangers = try StrangerPeers(server.target)
            try await strangers.connect(1)
            for _ in 0..<3 {
                let provider = try await HTTP2Client(server.target)
                let request = try await Self.request(server, provider)
                #expect(try await provider.send(request).status == 200)
            }
        }

        @Test(.tags(.slow))
        func `a stranger has a maximum lifetime that no PING extends, and receives GOAWAY`() async throws {
            let server = try await EphemeralServer(options: ["--seconds-before-authentication", "3"])
            let provider = try await HTTP2Client(server.target)
            let request = try await Self.request(server, provider)
            #expect(try await provider.send(request).status == 200)
            let strangers = try StrangerPeers(server.target)
            try await strangers.connect(5)
            #expect(try await strangers.openCount() == 5)
            // A refused request does not authenticate the sender.
            let refused = try await HTTP2Client(server.target)
            let wrong = ProviderRequest(
                token: server.topic.token, topic: server.topic.topic,
                providerToken: try await refused.providerToken(foreignKey: true))
            #expect(try await refused.send(wrong).status == 403)
            for _ in 0..<8 {
                try await strangers.ping()
                try await Task.sleep(for: .milliseconds(500))
            }
            #expect(try await strangers.goAwayCount() == 5)
            #expect(try await refused.goaways().map(\.debug) == [#"{"reason":"IdleTimeout"}"#])
            #expect(try await provider.send(request).status == 200, "the provider has proved who it is")
        }

        @Test(.tags(.slow))
        func `the default limits admit many honest connections from one address`() async throws {
            let server = try await EphemeralServer()
            let strangers = try StrangerPeers(server.target)
            try await strangers.connect(100)
            #expect(try await strangers.storm(1000) == 1000)
            #expect(try await strangers.openCount() == 100, "nobody had to make room")
        }

        @Test(.tags(.slow))
        func `over its limit an address's idle strangers are closed for new ones, and counted`()
            async throws
        {
            let server = try await EphemeralServer(options: ["--connections-per-address", "20"])
            let strangers = try StrangerPeers(server.target)
            try await strangers.connect(20)
            try await Task.sleep(for: .seconds(6))
            var providers: [HTTP2Client] = []
            for _ in 0..<3 {
                let provider = try await HTTP2Client(server.target)
                providers.append(provider)
                #expect(try await provider.send(try await Self.request(server, provider)).status == 200)
            }
            #expect(try await strangers.openCount() == 17)
            let status = try await server.admin.status()
            #expect(status.connections?.shed == 3, "for \(providers.count) providers")
        }
    }
}
