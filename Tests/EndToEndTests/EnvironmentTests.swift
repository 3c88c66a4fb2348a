// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// Checks production and development on one server: by port, by server name, for tokens, keys and registrations.
    struct EnvironmentTests {
        @Test func `the server name or the port selects the environment, and the other's tokens do not work`()
            async throws
        {
            let server = try await EphemeralServer(options: ["--full"])
            var development = server.target
            development.port = try port(server, "APNS_PORT_DEV")
            let production = server.topic.token
            let sandbox = try server.variable("APNS_SANDBOX_TOKEN")
            let ways: [(name: String, target: ProviderTarget, serverName: String?, isDevelopment: Bool)] = [
                ("no name", server.target, nil, false),
                ("production's name", server.target, "api.push.apple.com", false),
                ("the sandbox's name", server.target, "api.sandbox.push.apple.com", true),
                ("the sandbox's older name", server.target, "api.development.push.apple.com", true),
                ("development's port", development, nil, true),
                ("development's port, production's name", development, "api.push.apple.com", true),
            ]
            for way in ways {
                let client = try await HTTP2Client(way.target, serverName: way.serverName)
                let token = way.isDevelopment ? sandbox : production
                let good = try await request(to: token, server, by: client)
                #expect(try await client.send(good).status == 200, "\(way.name)")
                let foreign = good.at("/3/device/\(way.isDevelopment ? production : sandbox)")
                let refused = try await client.send(foreign)
                #expect(refused.data == [#"{"reason":"BadDeviceToken"}"#], "\(way.name)")
                let environment = way.isDevelopment ? "production" : "development"
                #expect(refused.field("posthorn-detail")?.contains("is for \(environment)") == true, "\(way.name)")
            }
        }

        @Test func `a key of one environment is refused in the other by name`() async throws {
            let server = try await EphemeralServer(options: ["--full"])
            var target = server.target
            target.keyFile = try server.variable("APNS_KEY_ENV")
            target.keyID = try server.variable("APNS_KEY_ENV_ID")
            let client = try await HTTP2Client(target)
            let refused = try await client.send(try await request(to: server.topic.token, server, by: client))
            #expect(refused.status == 403 && refused.data == [#"{"reason":"BadEnvironmentKeyInToken"}"#])
            let developer = try await HTTP2Client(target, serverName: "api.sandbox.push.apple.com")
            let sandbox = try server.variable("APNS_SANDBOX_TOKEN")
            #expect(try await developer.send(try await request(to: sandbox, server, by: developer)).status == 200)
        }

        @Test func `a port for channels serves channels only, and other ports may exclude them`()
            async throws
        {
            let server = try await EphemeralServer(options: ["--full", "--channels-on-provider-ports", "no"])
            var management = server.target
            management.port = try port(server, "APNS_MANAGE_PORT")
            let list = "/1/apps/\(server.topic.topic)/all-channels"
            let manager = try await HTTP2Client(management)
            let good = try await request(to: server.topic.token, server, by: manager)
            let listed = try await manager.send(good.with("apns-id", nil).by("GET").at(list).sending(nil))
            let channel = try server.variable("APNS_CHANNEL_ID")
            #expect(listed.status == 200 && listed.data.joined().contains(channel))
            #expect(try await manager.send(good).data == [#"{"reason":"BadPath"}"#])
            let provider = try await HTTP2Client(server.target)
            #expect(try await provider.send(good.by("GET").at(list).sending(nil)).data == [#"{"reason":"BadPath"}"#])
            #expect(try await provider.send(good).status == 200)
        }

        private func port(_ server: EphemeralServer, _ name: String) throws -> Int {
            try #require(Int(try server.variable(name)))
        }

        private func request(
            to token: String, _ server: EphemeralServer, by client: HTTP2Client
        ) async throws -> ProviderRequest {
            ProviderRequest(
                token: token, topic: server.topic.topic, providerToken: try await client.providerToken())
        }
    }
}
