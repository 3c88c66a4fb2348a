// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension AdminEndToEnd {
    /// Checks channels in the admin API of a real server.
    struct AdminChannelTests {
        private let server: InstalledServer

        /// Starts a server with an app that may have channels and one that may not.
        init() async throws {
            server = try await InstalledServer()
            try await server.admin.perform("POST", "/v1/apps", body: #"{"topic":"news","broadcasts":true}"#)
            try await server.admin.perform("POST", "/v1/apps", body: #"{"topic":"mail"}"#)
        }

        private static let channels = "/v1/apps/news/channels"

        private func create(_ body: String = "{}", parameter: String = "") async throws -> Channel {
            let answer = try await server.admin.exchange("POST", Self.channels + parameter, body)
            #expect(answer.status == 201, "\(answer)")
            return try answer.decoded()
        }

        private func refusal(_ method: String, _ target: String, _ body: String? = nil) async throws -> String {
            let answer = try await server.admin.exchange(method, target, body)
            return "\(answer.status) \(answer["error"] ?? answer.body)"
        }

        @Test func `by default a channel is for production and keeps the last broadcast`() async throws {
            let plain = try await create()
            #expect(plain.environment == "production" && plain.policy == 1 && plain.topic == "news")
            #expect(plain.subscriptionCount == 0)
            #expect(abs(Double(plain.createdAt) - Date.now.timeIntervalSince1970) < 3600)
            let other = try await create(#"{"environment":"development","message_storage_policy":0}"#)
            #expect(other.environment == "development" && other.policy == 0 && other.id != plain.id)
            #expect(try await create(parameter: "?environment=development").environment == "development")
            let both = try await create(#"{"environment":"production"}"#, parameter: "?environment=production")
            #expect(both.environment == "production")
        }

        @Test func `channels of the requested environment are listed, oldest first`() async throws {
            #expect(try await list().isEmpty)
            var ids: [String] = []
            for environment in ["production", "development", "production"] {
                ids.append(try await create(#"{"environment":"\#(environment)"}"#).id)
            }
            #expect(try await list() == ids)
            #expect(try await list("?environment=production") == [ids[0], ids[2]])
            #expect(try await list("?environment=development") == [ids[1]])
        }

        @Test func `a channel is found in either environment, and only in the one that is named`() async throws {
            for environment in ["production", "development"] {
                let channel = try await create(#"{"environment":"\#(environment)"}"#)
                let other = environment == "production" ? "development" : "production"
                let path = "\(Self.channels)/\(channel.id)"
                let shown = try await server.admin.exchange("GET", path)
                #expect(try shown.status == 200 && shown.decoded(Channel.self) == channel)
                #expect(try await server.admin.exchange("GET", "\(path)?environment=\(environment)").body == shown.body)
                #expect(try await refusal("GET", "\(path)?environment=\(other)") == "404 UnknownChannel")
                #expect(try await refusal("DELETE", "\(path)?environment=\(other)") == "404 UnknownChannel")
                #expect(try await server.admin.exchange("DELETE", path).status == 204)
                #expect(try await refusal("GET", path) == "404 UnknownChannel")
                #expect(try await refusal("DELETE", path) == "404 UnknownChannel")
            }
        }

        @Test func `an ID may be escaped, and matches only in its whole length`() async throws {
            let channel = try await create()
            let bare = String(channel.id.dropLast(2))
            #expect(try await server.admin.exchange("GET", "\(Self.channels)/\(bare)%3D%3d").status == 200)
            for id in [bare, bare + "=", channel.id + "=", "x", "", "%2F", String(channel.id.lowercased())] {
                #expect(try await refusal("GET", "\(Self.channels)/\(id)") == "404 UnknownChannel", "\(id)")
            }
            #expect(try await refusal("GET", "/v1/apps/mail/channels/\(channel.id)") == "404 UnknownChannel")
        }

        @Test func `an invalid request for a channel is refused with the reason`() async throws {
            let path = Self.channels
            #expect(try await refusal("POST", "/v1/apps/mail/channels", "{}") == "403 BroadcastsNotAllowed")
            #expect(try await refusal("POST", "/v1/apps/none/channels", "{}") == "404 UnknownTopic")
            #expect(try await refusal("GET", "/v1/apps/none/channels") == "404 UnknownTopic")
            for body in [
                #"{"message_storage_policy":2}"#, #"{"message_storage_policy":"1"}"#, #"{"policy":1}"#,
                #"{"environment":"both"}"#,
            ] {
                #expect(try await refusal("POST", path, body) == "400 BadRequest", "\(body)")
            }
            for parameters in [
                "?environment=", "?environment=x", "?env=production", "?x", "?environment=production&x=1",
                "?environment=production&environment=production",
            ] {
                #expect(try await refusal("GET", path + parameters) == "400 BadParameter", "\(parameters)")
            }
            let contradiction = try await refusal(
                "POST", "\(path)?environment=development", #"{"environment":"production"}"#)
            #expect(contradiction == "400 BadParameter")
            #expect(try await list().isEmpty)
        }

        @Test func `switching broadcasts off permanently removes the channels of both environments`() async throws {
            let first = try await create()
            _ = try await create(#"{"environment":"development"}"#)
            try await server.admin.perform("PATCH", "/v1/apps/news", body: #"{"broadcasts":true}"#)
            #expect(try await list().count == 2, "on was on")
            try await server.admin.perform("PATCH", "/v1/apps/news", body: #"{"broadcasts":false}"#)
            #expect(try await refusal("POST", Self.channels, "{}") == "403 BroadcastsNotAllowed")
            try await server.admin.perform("PATCH", "/v1/apps/news", body: #"{"broadcasts":true}"#)
            #expect(try await list().isEmpty)
            #expect(try await refusal("GET", "\(Self.channels)/\(first.id)") == "404 UnknownChannel")
        }

        private func list(_ parameters: String = "") async throws -> [String] {
            try await server.admin.request("GET", Self.channels + parameters, as: Channels.self).channels.map(\.id)
        }

        private struct Channels: Decodable {
            let channels: [Channel]
        }

        private struct Channel: Decodable, Equatable {
            let id: String
            let topic: String
            let environment: String
            let policy: Int
            let createdAt: Int
            let subscriptionCount: Int

            private enum CodingKeys: String, CodingKey {
                case topic, environment
                case id = "channel_id"
                case policy = "message_storage_policy"
                case createdAt = "created_at"
                case subscriptionCount = "subscription_count"
            }
        }
    }
}
