// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceAPIEndToEnd {
    /// Uses the device stream over WebSocket, as an independent agent would.
    struct WebSocketTests {
        private static let mail = "org.example.Mail"
        private let server: InstalledServer
        private let target: ProviderTarget
        private let provider: APNsProvider
        private let secret: String
        private let token: String
        private let device: WebSocketDevice

        init() async throws {
            server = try await InstalledServer()
            target = try await server.addApp(Self.mail)
            provider = try await APNsProvider(target)
            let client = try await HTTP2Client(target)
            let body = #"{"code":"\#(try await server.enrolmentCode())","name":"test","platform":"linux"}"#
            let enrolled = try await client.request(Self.fields("POST", "/v1/devices"), body: body)
            secret = try Self.member("device_secret", of: enrolled)
            let fields = Self.fields("PUT", "/v1/apps/\(Self.mail)") + [["authorization", "Bearer \(secret)"]]
            token = try Self.member("device_token", of: try await client.request(fields, body: nil))
            device = try WebSocketDevice(server, secret: secret)
        }

        private static func fields(_ method: String, _ path: String) -> [[String]] {
            [[":method", method], [":scheme", "https"], [":authority", "push.example"], [":path", path]]
        }

        private static func member(_ name: String, of response: HTTP2Response) throws -> String {
            let body = try JSONDecoder().decode([String: String].self, from: Data(response.data.joined().utf8))
            return try #require(body[name])
        }

        private func send(_ bodies: String...) async throws {
            let notifications = bodies.map {
                SentNotification(token: token, payload: #"{"aps":{"alert":"\#($0)"}}"#)
            }
            for result in try await provider.send(notifications, concurrency: 1) { #expect(result.status == 200) }
        }

        private func pendingCount() async throws -> Int { try await server.admin.status().counts.pending }

        /// Waits until this number of notifications is pending.
        private func expectPending(_ count: Int) async throws {
            try await eventually("\(count) wait") { try await pendingCount() == count }
        }

        private func connect() async throws { #expect(try await device.connect().status == 101) }

        // MARK: Valid use

        @Test func `an independent device attaches, receives and acknowledges`() async throws {
            try await send("one")
            #expect(try await device.connectByLibrary() == "posthorn.v1")
            let first = try await device.receive().text
            #expect(first.hasPrefix(#"{"notification":{"id":1,"unique-id":""#))
            #expect(first.hasSuffix(#","payload":{"aps": {"alert": "one"}}}}"#), "as aioapns writes it: \(first)")
            try await send("two")
            #expect(try await device.receive().text.contains(#""alert": "two""#))
            try await device.say(#"{"acks":[{"id":1,"outcome":"shown"},{"id":2,"outcome":"delivered","reason":"ä"}]}"#)
            try await expectPending(0)
            #expect(try await server.admin.status().counts.devicesConnected == 1)
            server.process.now.send(SIGTERM)
            #expect(try await device.receive().text == #"{"goodbye":{"reason":"shutdown","retry_after":1}}"#)
            #expect(try await device.receive() == .init(opcode: 8, text: "shutdown", code: 1001))
        }

        @Test func `an unacknowledged notification is sent again, on any stream`() async throws {
            try await connect()
            try await send("one", "two", "three")
            for id in 1...3 { #expect(try await device.nextNotificationID() == id) }
            try await device.frame(1, #" {"later":[{}], "acks":[ {"outcome":"viewed","id":2} ] } "#)
            try await expectPending(2)
            try await device.close()
            try await eventually("the server noticed") {
                try await server.admin.status().counts.devicesConnected == 0
            }
            try await connect()
            #expect(try await device.nextNotificationID() == 1)
            #expect(try await device.nextNotificationID() == 3)
            let events = try await RunningProcess.run(
                "/usr/bin/curl",
                [
                    "--silent", "--no-buffer", "--max-time", "3", "--cacert", server.authorityFile, "-H",
                    "authorization: bearer \(secret)", "\(server.url)/v1/stream",
                ])
            #expect(events.output.contains("id: 1\n") && events.output.contains("id: 3\n"))
            #expect(try await device.next().text == #"{"goodbye":{"reason":"replaced","retry_after":60}}"#)
            #expect(try await device.next() == .init(opcode: 8, text: "replaced", code: 1001))
            #expect(try await device.next().opcode == -1)
        }

        @Test func `fragments, pieces, pings and a large batch are read`() async throws {
            try await connect()
            try await send("one", "two")
            for id in 1...2 { #expect(try await device.nextNotificationID() == id) }
            try await device.frame(1, #"{"acks":[{"id":"#, isFinal: false, pieces: 5)
            try await device.frame(9, "in between")
            #expect(try await device.next() == .init(opcode: 10, text: "in between", code: 0))
            try await device.frame(0, "", isFinal: false)
            try await device.frame(0, #"1,"outcome":"delivered"}]}"#)
            try await expectPending(1)
            let others = (10..<1009).map { #"{"id":\#($0),"outcome":"closed"}"# }.joined(separator: ",")
            try await device.frame(1, #"{"acks":[{"id":2,"outcome":"delivered"},\#(others)]}"#)
            try await expectPending(0)
            try await device.frame(8, "")
            #expect(try await device.next().opcode == 8)
            #expect(try await device.next().opcode == -1)
        }

        @Test func `an acknowledgement and the end of the connection may arrive together`() async throws {
            try await connect()
            try await send("one")
            #expect(try await device.nextNotificationID() == 1)
            try await device.leave(saying: #"{"acks":[{"id":1,"outcome":"delivered"}]}"#)
            try await expectPending(0)
            try await eventually("the server noticed") {
                try await server.admin.status().counts.devicesConnected == 0
            }
        }

        @Test func `a device may request slower heartbeats, and the answer has the granted interval`() async throws {
            let answer = try await device.connect(fields: [["Posthorn-Heartbeat", "100000"]])
            #expect(answer.status == 101 && answer.fields["posthorn-heartbeat"] == "240")
            let events = try await RunningProcess.run(
                "/usr/bin/curl",
                [
                    "--silent", "--include", "--no-buffer", "--max-time", "2", "--cacert", server.authorityFile, "-H",
                    "authorization: bearer \(secret)", "-H", "posthorn-heartbeat: 55", "\(server.url)/v1/stream",
                ])
            #expect(events.output.contains("posthorn-heartbeat: 55\r\n"))
            #expect(try await device.connect().fields["posthorn-heartbeat"] == nil)
        }

        /// A device that does not read is dropped in the same way, because the ping waits behind all other data.
        @Test(.tags(.slow))
        func `a device that does not answer a ping is dropped, and unacknowledged notifications wait`() async throws {
            try await connect()
            try await send("one")
            #expect(try await device.nextNotificationID() == 1)
            #expect(try await device.next(within: .seconds(90)).opcode == 9)
            try await device.frame(10, "")
            #expect(try await device.next(within: .seconds(90)).opcode == 9, "the first was answered")
            #expect(try await device.next(within: .seconds(90)).opcode == -1)
            try await connect()
            #expect(try await device.nextNotificationID() == 1)
        }

        // MARK: Invalid use

        @Test func `an invalid handshake is refused with a remedy`() async throws {
            let cases: [(status: Int, says: String, fields: [[String]], without: [String])] = [
                (426, "Sec-WebSocket-Version: 13", [["Sec-WebSocket-Version", "8"]], ["Sec-WebSocket-Version"]),
                (426, "Sec-WebSocket-Version: 13", [], ["Sec-WebSocket-Version"]),
                (426, "Sec-WebSocket-Version: 13", [["Sec-WebSocket-Version", "13"]], []),
                (426, "Upgrade: websocket", [], ["Upgrade"]),
                (426, "Upgrade: websocket", [["Upgrade", "h2c"]], ["Upgrade"]),
                (400, "Connection: Upgrade", [["Connection", "keep-alive"]], ["Connection"]),
                (400, "Sec-WebSocket-Protocol: posthorn.v1", [], ["Sec-WebSocket-Protocol"]),
                (
                    400, "Sec-WebSocket-Protocol: posthorn.v1", [["Sec-WebSocket-Protocol", "posthorn.v2"]],
                    ["Sec-WebSocket-Protocol"]
                ),
                (400, "Sec-WebSocket-Key", [["Sec-WebSocket-Key", "c2hvcnQ="]], ["Sec-WebSocket-Key"]),
                (400, "Sec-WebSocket-Key", [["Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="]], []),
                (401, "Enrol again", [["Authorization", "Bearer nobody"]], ["Authorization"]),
                (401, "Enrol again", [], ["Authorization"]),
            ]
            for one in cases {
                let answer = try await device.connect(fields: one.fields, without: one.without)
                #expect(answer.status == one.status && answer.body.contains(one.says), "\(one): \(answer)")
                #expect((answer.fields["sec-websocket-version"] == "13") == (one.status == 426))
                #expect(answer.fields["content-type"] == "application/json")
            }
            #expect(try await device.connect(start: "POST /v1/stream HTTP/1.1").status == 405)
            #expect(try await device.connect(start: "GET /v1/stream HTTP/1.0").status == 426)
            let garbage = String(repeating: "x", count: 10_000)
            #expect(try await device.connect(fields: [["X-Garbage", garbage]]).status == 431)
            #expect(try await server.admin.status().counts.devicesConnected == 0)
            try await connect()
        }

        @Test func `a handshake with a body is refused in each form, and the server survives`() async throws {
            let body = String(repeating: "x", count: 66_000)
            let forms: [(fields: [[String]], body: String)] = [
                ([["Expect", "100-continue"], ["Content-Length", "70000"]], ""),
                ([["Expect", "100-continue"], ["Content-Length", "5"]], "hello"),
                ([["Content-Length", "66000"]], body), ([["Content-Length", "70000"]], body),
                ([["Content-Length", "5"]], "hello"),
                ([["Transfer-Encoding", "chunked"]], "0\r\n\r\n"),
                ([["Transfer-Encoding", "chunked"]], "101d0\r\n\(body)\r\n0\r\n\r\n"),
            ]
            for form in forms {
                let answer = try await device.connect(fields: form.fields, body: form.body)
                #expect(answer.status == 400 && answer.body.contains("has no body"), "\(form.fields): \(answer)")
            }
            // Frames may directly follow the handshake.
            try await send("one")
            #expect(
                try await device.connect(body: "\u{1}\u{0}").status == 101, "the frame is bad, the handshake is not")
            try await connect()
            #expect(try await device.nextNotificationID() == 1)
        }

        @Test(arguments: TLSPeer.Ending.allCases)
        func `a peer that ends its output after a handshake, or in its body, affects no other`(
            ending: TLSPeer.Ending
        ) async throws {
            let head =
                "GET /v1/stream HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: posthorn.v1\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer \(secret)\r\n"
            for rest in [
                "\r\n", "Content-Length: 70000\r\n\r\nx", "Expect: 100-continue\r\nContent-Length: 70000\r\n\r\n",
            ] {
                let peer = try TLSPeer(.init(target, alpn: "http/1.1"))
                try await peer.connect()
                _ = try await peer.finish([head + rest], ending)
            }
            try await connect()
        }

        @Test func `an invalid frame or message closes with a code and a remedy`() async throws {
            let cases: [(code: Int, says: String, opcode: Int, text: String, isMasked: Bool)] = [
                (1002, "breaks the protocol", 1, "{}", false),
                (1002, "breaks the protocol", 3, "{}", true),
                (1002, "breaks the protocol", 0, "{}", true),
                (1002, "has 1 byte", 8, "\u{3}", true),
                (1003, "text", 2, #"{"acks":[]}"#, true),
                (1007, "byte 1", 1, "{", true),
                (1007, "one JSON object", 1, "[]", true),
                (1007, "byte 11", 1, #"{"acks":[]}x"#, true),
                (1008, #"send {"acks":[{"id":ID"#, 1, "{}", true),
                (1008, #"send {"acks":[{"id":ID"#, 1, #"{"acks":{}}"#, true),
                (1008, "acks[0]: id is a number", 1, #"{"acks":[{"id":1}]}"#, true),
                (1008, "acks[1]: id is a number", 1, #"{"acks":[{"id":1,"outcome":"shown"},7]}"#, true),
                (1008, "acks[0]: id is a number", 1, #"{"acks":[{"id":-1,"outcome":"shown"}]}"#, true),
                (1008, "acks[0]: id is a number", 1, #"{"acks":[{"id":1,"outcome":"eaten"}]}"#, true),
                (1008, "reason is a string", 1, #"{"acks":[{"id":1,"outcome":"shown","reason":5}]}"#, true),
                (1009, "at most 1000", 1, Self.acknowledgements(1001), true),
                (1009, "too big", 1, String(repeating: " ", count: 65_537), true),
            ]
            try await send("one")
            for one in cases {
                try await connect()
                #expect(try await device.nextNotificationID() == 1)
                try await device.frame(one.opcode, one.text, isMasked: one.isMasked)
                let close = try await device.next()
                #expect(close.opcode == 8 && close.code == one.code, "\(one): \(close)")
                #expect(close.text.contains(one.says), "\(one): \(close)")
                #expect(try await device.next().opcode == -1)
            }
            #expect(try await pendingCount() == 1)
        }

        private static func acknowledgements(_ count: Int) -> String {
            let list = (1...count).map { #"{"id":\#($0),"outcome":"shown"}"# }.joined(separator: ",")
            return #"{"acks":[\#(list)]}"#
        }
    }
}
