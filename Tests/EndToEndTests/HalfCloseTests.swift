// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// Checks peers that end their output and keep reading: RFC 8446, section 6.1.
    struct HalfCloseTests {
        private static let payload = #"{"aps":{"alert":"Hello"}}"#

        private func request(_ server: EphemeralServer) async throws -> ProviderRequest {
            let client = try await HTTP2Client(server.target)
            return ProviderRequest(
                token: server.topic.token, topic: server.topic.topic, providerToken: try await client.providerToken())
        }

        /// Encodes a request as HTTP/1.1 text.
        private func text(_ request: ProviderRequest) -> String {
            let fields = request.fields.map { "\($0[0]): \($0[1])\r\n" }.joined()
            return "\(request.method) \(request.path) HTTP/1.1\r\nhost: push.example\r\n\(fields)"
                + "content-length: \(Self.payload.utf8.count)\r\n\r\n\(Self.payload)"
        }

        private func request(_ method: String, _ path: String, secret: String, _ body: String? = nil)
            -> TLSPeer.Request
        {
            let fields = [
                [":method", method], [":scheme", "https"], [":authority", "push.example"], [":path", path],
            ]
            return TLSPeer.Request(headers: fields + [["authorization", "Bearer \(secret)"]], body: body)
        }

        @Test(arguments: TLSPeer.Ending.allCases)
        func `a provider on HTTP/2 that ends its output gets all of its answers`(ending: TLSPeer.Ending) async throws {
            let server = try await EphemeralServer()
            let right = try await request(server)
            let peer = try TLSPeer(.init(server.target))
            try await peer.connect()
            let requests = [right, right.at("/3/device/bad"), right].map {
                TLSPeer.Request(headers: $0.allFields, body: Self.payload)
            }
            let answer = try await peer.finish(requests, ending)
            #expect(answer.statuses == [200, 400, 200] && answer.resets == [] && answer.end == "closed")
        }

        @Test(arguments: TLSPeer.Ending.allCases)
        func `a provider on HTTP/1.1 that ends its output gets all of its answers`(ending: TLSPeer.Ending) async throws
        {
            let server = try await EphemeralServer()
            let right = try await request(server)
            let peer = try TLSPeer(.init(server.target, alpn: "http/1.1"))
            try await peer.connect()
            let answer = try await peer.finish([text(right), text(right), "POST /3/device/half HTTP/1.1\r\n"], ending)
            #expect(answer.statuses == [200, 200] && answer.end == "closed")
        }

        @Test func `more pipelined requests than the server's buffers hold are all answered`() async throws {
            let server = try await EphemeralServer()
            let right = try await request(server)
            let requests = Array(repeating: text(right), count: 600)
            #expect(requests.reduce(0) { $0 + $1.utf8.count } > 200_000)
            let peer = try TLSPeer(.init(server.target, alpn: "http/1.1"))
            try await peer.connect()
            let answer = try await peer.finish(requests, .both)
            #expect(answer.statuses == Array(repeating: 200, count: 600) && answer.end == "closed")
        }

        @Test func `an administrator that ends its output gets its answer`() async throws {
            let server = try await EphemeralServer()
            let peer = try TLSPeer(.init(path: server.line.adminSocket))
            try await peer.connect()
            let answer = try await peer.finish(["GET /v1/status HTTP/1.1\r\nhost: posthorn\r\n\r\n"], .fin)
            #expect(answer.statuses == [200] && answer.end == "closed")
        }

        @Test func `a request that is incomplete when the output ends is dropped`() async throws {
            let server = try await EphemeralServer()
            let right = try await request(server)
            let peer = try TLSPeer(.init(server.target, alpn: "http/1.1"))
            try await peer.connect()
            let answer = try await peer.finish([String(text(right).dropLast())], .closeNotify)
            #expect(answer.statuses == [] && answer.end == "closed")
        }

        @Test(arguments: TLSPeer.Ending.allCases)
        func `a device that ends its output is disconnected, and its other requests are answered`(
            ending: TLSPeer.Ending
        ) async throws {
            let server = try await InstalledServer()
            let target = try await server.addApp("org.example.Mail")
            let device = try await PlainDevice(server, target)
            let peer = try TLSPeer(.init(target))
            try await peer.connect()
            #expect(try await peer.ask(request("GET", "/v1/stream", secret: device.secret)).statuses == [200])
            try await eventually("it is connected") { try await server.admin.status().counts.devicesConnected == 1 }
            let acknowledgement = #"{"acks":[{"id":1,"outcome":"shown"}]}"#
            let answer = try await peer.finish(
                [request("POST", "/v1/acks", secret: device.secret, acknowledgement)], ending)
            #expect(answer.statuses == [204] && answer.resets == [1] && answer.end == "closed")
            try await eventually("it is gone") { try await server.admin.status().counts.devicesConnected == 0 }
        }

        @Test(arguments: TLSPeer.Ending.allCases)
        func `a device that ends its output after its last answer receives a reset of its stream`(
            ending: TLSPeer.Ending
        ) async throws {
            let server = try await InstalledServer()
            let target = try await server.addApp("org.example.Mail")
            let device = try await PlainDevice(server, target)
            let peer = try TLSPeer(.init(target))
            try await peer.connect()
            #expect(try await peer.ask(request("GET", "/v1/stream", secret: device.secret)).statuses == [200])
            let nothing: [TLSPeer.Request] = []
            let answer = try await peer.finish(nothing, ending)
            #expect(answer.resets == [1] && answer.end == "closed")
        }

        @Test(arguments: [false, true], TLSPeer.Ending.allCases)
        func `a device on HTTP/1.1 that ends its output is disconnected`(
            isWebSocket: Bool, ending: TLSPeer.Ending
        ) async throws {
            let server = try await InstalledServer()
            let target = try await server.addApp("org.example.Mail")
            let device = try await PlainDevice(server, target)
            let peer = try TLSPeer(.init(target, alpn: "http/1.1"))
            try await peer.connect()
            let upgrade =
                "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
                + "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: posthorn.v1\r\n"
            let answer = try await peer.ask(
                "GET /v1/stream HTTP/1.1\r\nhost: push.example\r\nauthorization: Bearer \(device.secret)\r\n"
                    + (isWebSocket ? upgrade : "") + "\r\n")
            #expect(answer.statuses == [isWebSocket ? 101 : 200])
            try await eventually("it is connected") { try await server.admin.status().counts.devicesConnected == 1 }
            let nothing: [String] = []
            #expect(try await peer.finish(nothing, ending).end == "closed")
            try await eventually("it is gone") { try await server.admin.status().counts.devicesConnected == 0 }
        }

        /// The answer waits because the peer's window is closed, and the peer cannot open it any more.
        @Test func `a connection that waits to answer costs no CPU time, and a reset closes it`() async throws {
            let server = try await EphemeralServer()
            let wrong = ProviderRequest(token: "bad", topic: server.topic.topic, providerToken: "bad")
            let peer = try TLSPeer(.init(server.target))
            let before = try socketCount(of: server.process)
            try await peer.connect(window: 0)
            try await peer.leave([TLSPeer.Request(headers: wrong.allFields, body: Self.payload)], .both)
            #expect(try await peer.processorSeconds(of: server.process) < 0.5, "it must not spin on the end of input")
            #expect(try socketCount(of: server.process) == before + 1, "it waits")
            try await peer.reset()
            try await eventually("it is freed", within: .seconds(10)) {
                try socketCount(of: server.process) == before
            }
        }

        private func socketCount(of process: RunningProcess) throws -> Int {
            let folder = "/proc/\(process.identifier)/fd"
            return try FileManager.default.contentsOfDirectory(atPath: folder).count { name in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
                return target?.hasPrefix("socket:") ?? false
            }
        }
    }
}
