// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension SecurityEndToEnd {
    /// Checks rate limits of a real server for strangers and devices.
    struct PrincipalRateTests {
        private static let mail = "org.example.Mail"

        private func fields(_ method: String, _ path: String, _ secret: String? = nil) -> [[String]] {
            [[":method", method], [":scheme", "https"], [":authority", "push.example"], [":path", path]]
                + (secret.map { [["authorization", "Bearer \($0)"]] } ?? [])
        }

        /// Returns whether `posthorn status` shows refusals of a limit.
        private func refusals(_ server: InstalledServer, _ name: String) async throws -> Bool {
            try await server.posthorn("status").output.contains("  \(name)")
        }

        @Test func `twenty wrong signatures end a connection, and valid ones still work elsewhere`() async throws {
            let server = try await InstalledServer()
            let target = try await server.addApp(Self.mail)
            let device = try await PlainDevice(server, target)
            let client = try await HTTP2Client(target)
            let good = ProviderRequest(
                token: device.token, topic: Self.mail, providerToken: try await client.providerToken())
            let wrong = good.with("authorization", "bearer \(try await client.providerToken(foreignKey: true))")
            #expect(try await client.send(good).status == 200)
            for _ in 0..<20 { #expect(try await client.send(wrong).status == 403) }
            let goaways = try await client.goaways()
            #expect(goaways.last?.debug.contains("TooManyRequests") == true, "\(goaways)")
            #expect(try await HTTP2Client(target).send(good).status == 200)
            #expect(try await refusals(server, "provider signatures"))
        }

        @Test func `a network that guesses secrets must wait, and its honest members can still connect`() async throws {
            let server = try await InstalledServer(options: [
                "--stranger-credentials", "1/5", "--loops", "1", "--log-level", "info",
            ])
            let target = try await server.addApp(Self.mail)
            let device = try await PlainDevice(server, target)
            let client = try await HTTP2Client(target)
            let good = ProviderRequest(
                token: device.token, topic: Self.mail, providerToken: try await client.providerToken())
            let guess = #"{"code":"wrong","name":"x","platform":"linux"}"#
            for _ in 0..<4 {
                let guesser = try await HTTP2Client(target)
                var statuses: [Int] = []
                for _ in 0..<10 {
                    guard let answer = try? await guesser.request(fields("POST", "/v1/devices"), body: guess) else {
                        break
                    }
                    statuses.append(answer.status ?? 0)
                    if answer.status == 429 { #expect(answer.field("retry-after") != nil) }
                }
                #expect(statuses.allSatisfy { $0 == 403 || $0 == 429 } && statuses.contains(429), "\(statuses)")
            }
            let secrets = try await HTTP2Client(target)
            let unknown = try await secrets.request(fields("GET", "/v1/policy", "unknown"), body: nil)
            #expect(unknown.status == 429 || unknown.status == 401, "\(unknown)")
            // A new connection has one attempt, which is enough with a valid credential.
            #expect(try await HTTP2Client(target).send(good).status == 200)
            let known = try await HTTP2Client(target).request(fields("GET", "/v1/policy", device.secret), body: nil)
            #expect(known.status == 200)
            let other = try await PlainDevice(server, target)
            #expect(!other.secret.isEmpty, "a good code is taken")
            #expect(try await refusals(server, "unauthenticated credentials"))
            let lines = server.process.now.transcript.split(separator: "\n").filter { $0.contains("enrolment_refused") }
            #expect((1...2).contains(lines.count) && lines.allSatisfy { $0.contains("source=127.0.0.1") }, "\(lines)")
        }

        @Test func `open enrolment has a rate for each network`() async throws {
            let server = try await InstalledServer(
                options: ["--open-enrolment", "yes", "--stranger-enrolments", "1/3"])
            let client = try await HTTP2Client(try await server.addApp(Self.mail))
            var answers: [HTTP2Response] = []
            for _ in 0..<20 {
                answers.append(
                    try await client.request(
                        fields("POST", "/v1/devices"), body: #"{"name":"x","platform":"linux"}"#))
            }
            #expect(answers.contains { $0.status == 201 } && answers.contains { $0.status == 429 })
            #expect(answers.filter { $0.status == 429 }.allSatisfy { $0.field("retry-after") == "1" })
            _ = try await server.enrolmentCode()
            #expect(try await refusals(server, "unauthenticated enrolments"))
        }

        @Test func `a device has rates for requests, acknowledgements and streams`() async throws {
            let server = try await InstalledServer(
                options: [
                    "--device-requests", "1/6", "--device-acks", "1/1000", "--device-streams", "1/3", "--loops", "1",
                ])
            let target = try await server.addApp(Self.mail)
            let device = try await PlainDevice(server, target)
            let client = try await HTTP2Client(target)
            let acks = (0..<400).map { #"{"id":\#($0 + 1_000_000),"outcome":"delivered"}"# }.joined(separator: ",")
            var statuses: [Int?] = []
            for _ in 0..<4 {
                let answer = try await client.request(
                    fields("POST", "/v1/acks", device.secret), body: #"{"acks":[\#(acks)]}"#)
                statuses.append(answer.status)
            }
            #expect(statuses.prefix(2) == [204, 204] && statuses.contains(429), "\(statuses)")
            let many = try await client.openTogether(
                fields("DELETE", "/v1/apps/org.example.X", device.secret), count: 30)
            var refused = 0
            for stream in many where try await client.response(stream).status == 429 { refused += 1 }
            #expect(refused >= 20)
            var opened: [Int?] = []
            for stream in try await client.openTogether(fields("GET", "/v1/stream", device.secret), count: 20) {
                opened.append(try await client.head(stream).status)
            }
            #expect(opened.contains(200) && opened.contains(429), "\(opened)")
            for cause in ["requests", "acknowledgements", "streams"] {
                #expect(try await refusals(server, "device \(cause)"), "\(cause)")
            }
        }

        @Test func `acknowledgements of a WebSocket are counted over its reconnections`() async throws {
            let server = try await InstalledServer(options: ["--device-acks", "1/1000"])
            let target = try await server.addApp(Self.mail)
            let device = try await PlainDevice(server, target)
            let acks = (0..<400).map { #"{"id":\#($0 + 1_000_000),"outcome":"delivered"}"# }.joined(separator: ",")
            let socket = try WebSocketDevice(server, secret: device.secret)
            #expect(try await socket.connect().status == 101)
            for _ in 0..<2 { try await socket.frame(1, #"{"acks":[\#(acks)]}"#) }
            #expect(try await socket.connect().status == 101)
            try await socket.frame(1, #"{"acks":[\#(acks)]}"#)
            var frame = try await socket.next()
            while frame.opcode != 8 { frame = try await socket.next() }
            #expect(frame.text.contains("too many acknowledgements"), "\(frame)")
        }
    }
}
