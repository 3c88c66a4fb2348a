// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The admin API of a server, asked with curl over its UNIX socket.
package struct AdminSocket: Sendable {
    /// The socket's path.
    package let path: String

    /// Takes the socket's path.
    package init(path: String) { self.path = path }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - target: The path, for example `/v1/status`.
    ///   - body: JSON; none when nil.
    ///   - type: What to make of the answer.
    /// - Returns: The answer.
    /// - Throws: `UnexpectedOutput` when the server is not there, refuses, or says something else.
    package func request<Answer: Decodable>(
        _ method: String, _ target: String, body: String? = nil, as type: Answer.Type = Answer.self
    ) async throws -> Answer {
        try await send(method, target, body: body).decoded(type)
    }

    /// Sends a request whose answer has no content that matters.
    package func perform(_ method: String, _ target: String, body: String? = nil) async throws {
        _ = try await send(method, target, body: body)
    }

    /// What the server counts.
    package func status() async throws -> ServerStatus { try await request("GET", "/v1/status") }

    /// What the built-in devices of an ephemeral server got.
    package func received() async throws -> [ReceivedNotification] {
        try await request("GET", "/v1/ephemeral/notifications", as: ReceivedNotifications.self).notifications
    }

    private func send(_ method: String, _ target: String, body: String?) async throws -> ProgramResult {
        var arguments = ["-sS", "--fail-with-body", "--max-time", "60", "--unix-socket", path, "-X", method]
        if let body { arguments += ["-H", "content-type: application/json", "--data-binary", body] }
        return try await RunningProcess.run(
            try RepositoryPaths.tool("curl"), arguments + ["http://posthorn\(target)"]
        ).succeeded()
    }
}

/// The answer of `GET /v1/status`, as far as tests look.
package struct ServerStatus: Decodable, Sendable {
    /// Where providers and devices connect.
    package let serverURL: String
    /// The server's own team.
    package let teamID: String
    /// Numbers of the store.
    package let counts: Counts

    /// Numbers of the store.
    package struct Counts: Decodable, Sendable {
        /// Devices whose stream is open.
        package let devicesConnected: Int
        /// Notifications that wait.
        package let pending: Int
        /// Notifications answered with 200 since the start.
        package let accepted: Int
        /// Notifications acknowledged since the start.
        package let acknowledged: Int

        private enum CodingKeys: String, CodingKey {
            case pending, accepted, acknowledged
            case devicesConnected = "devices_connected"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case counts
        case serverURL = "server_url"
        case teamID = "team_id"
    }
}

/// One notification that a built-in device of an ephemeral server got.
package struct ReceivedNotification: Decodable, Sendable {
    /// The topic it was registered for.
    package let topic: String
    /// The device token.
    package let token: String
    /// The provider's `apns-*` header fields.
    package let headers: [String: String]
    /// The payload, byte for byte.
    package let payload: String
}

private struct ReceivedNotifications: Decodable {
    let notifications: [ReceivedNotification]
}
