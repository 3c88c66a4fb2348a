// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceAPIEndToEnd {
    /// Checks requests of the device API whose secret is unknown to the server, or not known yet.
    struct DeviceIdentificationTests {
        private static let mail = "org.example.Mail"
        private static let large = String(repeating: "this is no JSON ", count: 62 * 1024 / 16)
        private let server: InstalledServer
        private let target: ProviderTarget
        private let device: PlainDevice

        init() async throws {
            server = try await InstalledServer(options: ["--loops", "2"])
            target = try await server.addApp(Self.mail)
            try await server.posthorn("app", "set", Self.mail, "--broadcasts", "on")
            device = try await PlainDevice(server, target)
        }

        private func fields(_ method: String, _ path: String, secret: String?) -> [[String]] {
            [[":method", method], [":scheme", "https"], [":authority", "push.example"], [":path", path]]
                + (secret.map { [["authorization", "Bearer \($0)"]] } ?? [])
        }

        private func acks(_ count: Int) -> String {
            let list = (0..<count).map { #"{"id":\#($0 + 1_000_000),"outcome":"delivered"}"# }
            return #"{"acks":[\#(list.joined(separator: ","))]}"#
        }

        @Test(arguments: [
            ("POST", "/v1/acks"), ("PUT", "/v1/filter"), ("PUT", "/v1/power"), ("PUT", "/v1/apps/org.example.Mail"),
        ])
        func `a body is not decoded before its sender is identified as a device`(
            method: String, path: String
        ) async throws {
            let client = try await HTTP2Client(target)
            // Any code that decodes this invalid JSON would answer 400.
            let guess = String(repeating: "A", count: 43)
            for secret in ["wrong", "wrong", nil, guess, "\(device.id).\(guess)"] {
                let answer = try await client.request(fields(method, path, secret: secret), body: Self.large)
                #expect(answer.status == 401, "\(answer)")
                let small = try await client.request(fields(method, path, secret: secret), body: "{")
                #expect(small.status == 401, "\(small)")
            }
            let good = try await client.request(fields(method, path, secret: device.secret), body: "{")
            #expect(good.status == 400, "\(good)")
        }

        @Test func `the longest list of acknowledgements may be the first request on a connection`() async throws {
            for _ in 0..<4 {
                let client = try await HTTP2Client(target)
                let request = fields("POST", "/v1/acks", secret: device.secret)
                let answer = try await client.request(request, body: acks(1000))
                #expect(answer.status == 204, "\(answer)")
            }
        }

        @Test func `a device that returns after a restart is asked to send a long body again`() async throws {
            try await server.killed()
            let client = try await HTTP2Client(target)
            let request = fields("POST", "/v1/acks", secret: device.secret)
            let first = try await client.request(request, body: acks(1000))
            #expect(first.status == 204 || (first.status == 503 && first.field("retry-after") == "1"), "\(first)")
            #expect(try await client.request(request, body: acks(1000)).status == 204)
        }

        @Test(arguments: [
            (#"{"acks":[]}"#, 204, ""),
            (#"{"acks":[{"id":1,"outcome":"shown","reason":null,"later":[{}]}],"x":1}"#, 204, ""),
            (#"{}"#, 400, "acks is missing"), (#"{"acks":1}"#, 400, "acks must be a list"),
            (
                #"{"acks":[{"id":1,"outcome":"shown"},{"id":"2","outcome":"shown"}]}"#, 400,
                "acks[1].id must be a whole number"
            ),
            (#"{"acks":[{"id":1,"outcome":"eaten"}]}"#, 400, "acks[0].outcome is invalid"),
            (#"{"acks":[{"id":1,"outcome":"shown"}]"#, 400, "At byte 36: "),
        ])
        func `acknowledgements are parsed strictly`(body: String, status: Int, detail: String) async throws {
            let client = try await HTTP2Client(target)
            let answer = try await client.request(fields("POST", "/v1/acks", secret: device.secret), body: body)
            #expect(answer.status == status && (detail.isEmpty || answer.data.joined().contains(detail)), "\(answer)")
        }

        @Test func `a list with one acknowledgement too many is refused`() async throws {
            let client = try await HTTP2Client(target)
            let request = fields("POST", "/v1/acks", secret: device.secret)
            #expect(try await client.request(request, body: acks(1001)).status == 429)
        }

        @Test func `a device that removed itself is a stranger immediately`() async throws {
            let client = try await HTTP2Client(target)
            #expect(
                try await client.request(fields("PUT", "/v1/power", secret: device.secret), body: "{").status == 400)
            let gone = try await client.request(fields("DELETE", "/v1/devices/self", secret: device.secret), body: nil)
            #expect(gone.status == 204)
            for _ in 0..<2 {
                let answer = try await client.request(fields("PUT", "/v1/power", secret: device.secret), body: "{")
                #expect(answer.status == 401, "\(answer)")
            }
        }

        @Test func `every request of a device that an administrator removed is refused`() async throws {
            let client = try await HTTP2Client(target)
            let power = fields("PUT", "/v1/power", secret: device.secret)
            #expect(try await client.request(power, body: #"{"saving":true}"#).status == 204)
            try await server.posthorn("device", "remove", device.id)
            #expect(try await client.request(power, body: #"{"saving":true}"#).status == 401)
            #expect(try await client.request(power, body: "{").status == 401, "now the cache knows, too")
        }

        // MARK: Lists

        @Test(arguments: ["/v1/apps/org.example.Mail/channels", "/v1/policy"])
        func `a device gets one list of a kind at a time`(path: String) async throws {
            let client = try await HTTP2Client(target)
            let request = fields("GET", path, secret: device.secret)
            #expect(try await client.request(request, body: nil).status == 200)
            var answers: [HTTP2Response] = []
            for stream in try await client.openTogether(request, count: 50) {
                answers.append(try await client.response(stream))
            }
            let refused = answers.filter { $0.status == 429 }
            #expect(answers.contains { $0.status == 200 } && refused.count >= 25, "\(refused.count)")
            #expect(refused.allSatisfy { $0.field("retry-after") == "1" })
            #expect(try await client.request(request, body: nil).status == 200)
        }
    }
}

extension InstalledServer {
    /// Kills the server and starts it again.
    fileprivate func killed() async throws {
        try await process.killNow()
        try await start()
    }
}
