// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceAPIEndToEnd {
    /// Checks registrations and subscriptions of the device API, as an independent agent would request them.
    struct DeviceAPITests {
        private static let mail = "org.example.Mail"
        private let server: InstalledServer
        private let client: HTTP2Client
        private let secret: String

        init() async throws {
            server = try await InstalledServer()
            let target = try await server.addApp(Self.mail)
            try await server.posthorn("app", "set", Self.mail, "--broadcasts", "on")
            try await server.posthorn("app", "add", "org.example.Other", "--broadcasts", "on")
            client = try await HTTP2Client(target)
            let body = #"{"code":"\#(try await server.enrolmentCode())","name":"test","platform":"linux"}"#
            let answer = try await client.request(Self.fields("POST", "/v1/devices"), body: body)
            secret = try JSONDecoder().decode(Device.self, from: Data(answer.data.joined().utf8)).secret
        }

        private static func fields(_ method: String, _ path: String) -> [[String]] {
            [[":method", method], [":scheme", "https"], [":authority", "push.example"], [":path", path]]
        }

        private func ask(_ method: String, _ path: String, _ body: String? = nil) async throws -> Answer {
            let fields = Self.fields(method, path) + [["authorization", "Bearer \(secret)"]]
            let response = try await client.request(fields, body: body)
            return Answer(status: response.status, body: response.data.joined())
        }

        private func token(_ body: String? = nil) async throws -> String {
            let answer = try await ask("PUT", "/v1/apps/\(Self.mail)", body)
            #expect(answer.status == 200, "\(answer)")
            return try JSONDecoder().decode(Registration.self, from: Data(answer.body.utf8)).deviceToken
        }

        private func createChannel(_ app: String = mail, environment: String = "production") async throws -> String {
            try await server.posthorn("channel", "create", app, "--environment", environment, "--json")
                .decoded(Channel.self).id
        }

        private static func escaped(_ channel: String) -> String {
            channel.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? channel
        }

        // MARK: Registrations

        @Test func `a registration is for production unless its body says otherwise`() async throws {
            let production = try await token()
            for body in ["{}", #"{"environment":"production"}"#, #"{"environment":null}"#, #"{"later":1}"#] {
                #expect(try await token(body) == production, "\(body)")
            }
            let development = try await token(#"{"environment":"development"}"#)
            #expect(development != production)
            #expect(try await token(#"{"environment":"development"}"#) == development)
            let again = try await token()
            #expect(again != development && again != production, "a registration that ended does not come back")
        }

        @Test(arguments: [
            (#"{"environment":"sandbox"}"#, "BadEnvironment", #"Use "production" or "development""#),
            (#"{"environment":""}"#, "BadEnvironment", #"Use "production" or "development""#),
            (#"{"environment":"Production"}"#, "BadEnvironment", "production"),
            (#"{"environment":1}"#, "BadEnvironment", #"Use "production" or "development""#),
            ("[]", "BadJSON", "JSON object"), ("production", "BadJSON", "JSON object"), (" ", "BadJSON", "JSON object"),
        ])
        func `an unknown environment is refused with the valid values`(
            body: String, word: String, detail: String
        ) async throws {
            let answer = try await ask("PUT", "/v1/apps/\(Self.mail)", body)
            #expect(answer.status == 400 && answer.error == word, "\(answer)")
            #expect(answer.detail?.contains(detail) == true, "\(answer)")
        }

        @Test(arguments: [
            ("/v1/acks", #"{"acks":[{"id":1,"outcome":"shown"},{"id":"2"}]}"#, "acks[1].id must be a whole number"),
            ("/v1/acks", #"{"acks":[{"id":1}]}"#, "acks[0].outcome is missing"),
            ("/v1/acks", #"{"acks":1}"#, "acks must be a list"),
            ("/v1/acks", #"{"acks":null}"#, "acks must be a list, not null"),
            ("/v1/acks", #"{"acks":[{"id":1,"outcome":"seen"}]}"#, "acks[0].outcome is invalid"),
            ("/v1/devices", #"{"nmae":"desk","platform":"linux"}"#, "name is missing"),
        ])
        func `a missing or invalid member is named`(path: String, body: String, detail: String) async throws {
            let answer = try await ask("POST", path, body)
            #expect(answer.status == 400 && answer.error == "BadRequest", "\(answer)")
            #expect(answer.detail?.hasPrefix(detail) == true, "\(answer)")
        }

        // MARK: Subscriptions

        @Test func `an app subscribes, lists and unsubscribes, and repetitions change nothing`() async throws {
            _ = try await token()
            let path = "/v1/apps/\(Self.mail)/channels"
            #expect(try await ask("GET", path) == Answer(status: 200, body: #"{"channels":[]}"#))
            let channels = [try await createChannel(), try await createChannel()]
            for channel in channels + channels {
                #expect(try await ask("PUT", "\(path)/\(Self.escaped(channel))") == Answer(status: 204, body: ""))
            }
            let both = #"{"channels":["\#(channels[0])","\#(channels[1])"]}"#
            #expect(try await ask("GET", path) == Answer(status: 200, body: both))
            for _ in 1...2 {
                #expect(try await ask("DELETE", "\(path)/\(Self.escaped(channels[0]))").status == 204)
            }
            #expect(try await ask("GET", path).body == #"{"channels":["\#(channels[1])"]}"#)
            #expect(try await ask("DELETE", "/v1/apps/\(Self.mail)").status == 204)
            #expect(try await ask("GET", path).error == "UnknownTopic")
            _ = try await token()
            #expect(try await ask("GET", path).body == #"{"channels":[]}"#, "they ended with the registration")
        }

        @Test func `a channel ID may be escaped in every way, and not at all`() async throws {
            _ = try await token()
            // IDs are random. Most have a slash or a plus sign within the first few.
            var channel = try await createChannel()
            for _ in 1...20 where !channel.contains("/") || !channel.contains("+") {
                channel = try await createChannel()
            }
            let path = "/v1/apps/\(Self.mail)/channels"
            let everyByte = channel.utf8.map { "%" + String($0, radix: 16) }.joined()
            for text in [channel, Self.escaped(channel), everyByte, everyByte.uppercased()] {
                #expect(try await ask("PUT", "\(path)/\(text)").status == 204, "\(text)")
                #expect(try await ask("GET", path).body == #"{"channels":["\#(channel)"]}"#)
                #expect(try await ask("DELETE", "\(path)/\(text)").status == 204, "\(text)")
                #expect(try await ask("GET", path).body == #"{"channels":[]}"#)
            }
        }

        @Test func `an invalid channel of the app is refused with a remedy`() async throws {
            let path = "/v1/apps/\(Self.mail)/channels"
            let own = try await createChannel()
            let unregistered = try await ask("PUT", "\(path)/\(Self.escaped(own))")
            #expect(unregistered.status == 404 && unregistered.error == "UnknownTopic")
            #expect(unregistered.detail?.contains("Register it first") == true)
            _ = try await token()
            for text in ["x", "", "%", "%4", "AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAB%3D%3D", "a b"] {
                let answer = try await ask("PUT", "\(path)/\(text.replacing(" ", with: "%20"))")
                #expect(answer.status == 400 && answer.error == "BadChannelID", "\(text): \(answer)")
                #expect(answer.detail?.contains("24 characters of base64") == true)
            }
            let strangers = [
                "AAAAAAAAAAAAAAAAAAAAAA==", try await createChannel("org.example.Other"),
                try await createChannel(environment: "development"),
            ]
            for channel in strangers {
                let answer = try await ask("PUT", "\(path)/\(Self.escaped(channel))")
                #expect(answer.status == 404 && answer.error == "UnknownChannel", "\(answer)")
            }
            #expect(try await ask("GET", path).body == #"{"channels":[]}"#)
        }

        @Test func `unsupported paths and methods around channels are answered by name`() async throws {
            _ = try await token()
            let path = "/v1/apps/\(Self.mail)/channels"
            #expect(try await ask("POST", path).error == "MethodNotAllowed")
            #expect(try await ask("GET", "\(path)/AAAAAAAAAAAAAAAAAAAAAA%3D%3D").error == "MethodNotAllowed")
            #expect(try await ask("GET", "/v1/apps/\(Self.mail)/friends").error == "NotFound")
            #expect(try await ask("PUT", "/v1/apps/\(Self.mail)/").error == "NotFound")
            #expect(try await ask("PUT", "/v1/apps/a%20b/channels/x").error == "BadTopic")
            let stranger = Self.fields("GET", path) + [["authorization", "Bearer another-device"]]
            #expect(try await client.request(stranger, body: nil).status == 401)
        }

        private struct Answer: Equatable, CustomStringConvertible {
            let status: Int?
            let body: String

            var error: String? { failure?["error"] }
            var detail: String? { failure?["detail"] }
            var description: String { "\(status ?? 0) \(body)" }
            private var failure: [String: String]? {
                try? JSONDecoder().decode([String: String].self, from: Data(body.utf8))
            }
        }

        private struct Device: Decodable {
            let secret: String
            enum CodingKeys: String, CodingKey { case secret = "device_secret" }
        }

        private struct Registration: Decodable {
            let deviceToken: String
            enum CodingKeys: String, CodingKey { case deviceToken = "device_token" }
        }

        private struct Channel: Decodable {
            let id: String
            enum CodingKeys: String, CodingKey { case id = "channel_id" }
        }
    }
}
