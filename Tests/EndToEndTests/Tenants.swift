// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// A server with one enrolled device that is offline, and teams that send to it.
struct Tenants {
    let server: InstalledServer
    private let secret: String

    /// Starts the server.
    ///
    /// - Parameter options: More options of `posthornd`.
    /// - Throws: The server's error.
    init(options: [String] = []) async throws {
        server = try await InstalledServer(options: options)
        let target = ProviderTarget(
            host: "127.0.0.1", port: server.port, caFile: server.authorityFile, keyFile: "", keyID: "", teamID: "",
            topic: "")
        let body = #"{"code":"\#(try await server.enrolmentCode())","name":"test","platform":"linux"}"#
        let answer = try await HTTP2Client(target).request(Self.fields("POST", "/v1/devices"), body: body)
        secret = try JSONDecoder().decode(Device.self, from: Data(answer.data.joined().utf8)).secret
    }

    /// One team with one app, registered on the device, and one key.
    struct Tenant {
        let target: ProviderTarget
        let client: HTTP2Client
        /// A valid request.
        let request: ProviderRequest
    }

    /// Adds a team with an app and a key.
    func add(_ team: String, _ topic: String) async throws -> Tenant {
        try await server.posthorn("app", "add", topic, "--team", team, "--broadcasts", "on")
        let file = server.files.path(of: "\(team)-\(topic).p8")
        let key = try await server.posthorn("key", "create", "--team", team, "--output", file, "--json")
            .decoded(InstalledServer.Key.self)
        let target = ProviderTarget(
            host: "127.0.0.1", port: server.port, caFile: server.authorityFile, keyFile: file, keyID: key.keyID,
            teamID: team, topic: topic)
        let client = try await HTTP2Client(target)
        let fields = Self.fields("PUT", "/v1/apps/\(topic)") + [["authorization", "Bearer \(secret)"]]
        let answer = try await client.request(fields, body: "{}")
        let token = try JSONDecoder().decode(Registration.self, from: Data(answer.data.joined().utf8)).deviceToken
        let request = ProviderRequest(token: token, topic: topic, providerToken: try await client.providerToken())
        return Tenant(target: target, client: client, request: request.with("apns-id", nil))
    }

    private static func fields(_ method: String, _ path: String) -> [[String]] {
        [[":method", method], [":scheme", "https"], [":authority", "push.example"], [":path", path]]
    }

    private struct Device: Decodable {
        let secret: String

        enum CodingKeys: String, CodingKey {
            case secret = "device_secret"
        }
    }

    private struct Registration: Decodable {
        let deviceToken: String

        enum CodingKeys: String, CodingKey {
            case deviceToken = "device_token"
        }
    }
}

extension HTTP2Client {
    /// Sends the same request `count` times at once and waits for all answers.
    func send(_ request: ProviderRequest, count: Int) async throws -> [HTTP2Response] {
        var streams: [Int] = []
        for _ in 0..<count { streams.append(try await open(request.allFields, body: request.body)) }
        var answers: [HTTP2Response] = []
        for stream in streams { answers.append(try await response(stream)) }
        return answers
    }
}

extension [HTTP2Response] {
    /// The number of accepted requests.
    var acceptedCount: Int { count { $0.status == 200 } }

    /// The requests that a rate or quota refused.
    var refused: [HTTP2Response] { filter { $0.data == [#"{"reason":"TooManyRequests"}"#] && $0.status == 429 } }
}
