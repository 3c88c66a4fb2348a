// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// A provider that broadcasts to an app's channels, in both environments.
struct BroadcastProvider {
    private let server: InstalledServer
    private let port: Int
    private let client: HTTP2Client

    /// Permits the app to have channels.
    ///
    /// - Parameters:
    ///   - stack: The app and its server.
    ///   - port: The port to publish at; nil for that of the app's server.
    /// - Throws: The error of the client or of the command.
    init(_ stack: TestStack, publishingAt port: Int? = nil) async throws {
        server = stack.server
        self.port = port ?? stack.server.port
        client = try await HTTP2Client(stack.target)
        try await server.posthorn("app", "set", TestStack.app, "--broadcasts", "on")
    }

    /// Creates a channel and returns its ID.
    func createChannel(environment: String = "production", policy: String = "none") async throws -> String {
        try await server.posthorn(
            "channel", "create", TestStack.app, "--environment", environment, "--policy", policy, "--json"
        ).decoded(Channel.self).id
    }

    /// Returns the number of subscriptions to a channel.
    func subscriptionCount(of channel: String) async throws -> Int {
        try await server.posthorn("channel", "show", TestStack.app, channel, "--json").decoded(Channel.self)
            .subscriptionCount
    }

    /// Publishes a broadcast over the provider API, and requires that it is accepted.
    ///
    /// A server that listens on one port selects the environment by the server name that the provider requests.
    ///
    /// - Parameters:
    ///   - payload: The payload.
    ///   - channel: The channel's ID.
    ///   - environment: The environment of the channel.
    ///   - expiration: The value of `apns-expiration`.
    /// - Throws: `RefusedBroadcast` when the server refuses it.
    func publish(
        _ payload: String, to channel: String, environment: String = "production", expiration: Int64 = 0
    ) async throws {
        let host = environment == "development" ? "api.sandbox.push.example" : "api.push.example"
        let token = try await client.providerToken()
        let fields = [
            "authorization: bearer \(token)", "apns-channel-id: \(channel)", "apns-push-type: liveactivity",
            "apns-priority: 10", "apns-expiration: \(expiration)",
        ].flatMap { ["-H", $0] }
        let result = try await RunningProcess.run(
            RepositoryPaths.tool("curl"),
            // This server's certificate has neither of the two names.
            ["-sS", "--insecure", "--http2", "--max-time", "30", "-w", "%{http_code}"]
                + ["--connect-to", "\(host):443:127.0.0.1:\(port)", "--data-binary", payload]
                + fields + ["https://\(host)/4/broadcasts/apps/\(TestStack.app)"]
        ).succeeded()
        guard result.output == "200" else { throw RefusedBroadcast(answer: result.output) }
    }

    private struct Channel: Decodable {
        let id: String
        let subscriptionCount: Int

        enum CodingKeys: String, CodingKey {
            case id = "channel_id"
            case subscriptionCount = "subscription_count"
        }
    }
}

/// Reports that the server refused the broadcast.
struct RefusedBroadcast: Error {
    /// The reason and the status.
    let answer: String
}
