// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The admin API of a server, called with curl over its UNIX socket.
package struct AdminSocket: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    /// Sends a request that must succeed.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - target: The path, for example `/v1/status`.
    ///   - body: The JSON body; nil for none.
    ///   - type: The type of the answer.
    /// - Returns: The answer.
    /// - Throws: `UnexpectedOutput` when the server does not run or refuses, `DecodingError` for another type.
    package func request<Answer: Decodable>(
        _ method: String, _ target: String, body: String? = nil, as type: Answer.Type = Answer.self
    ) async throws -> Answer {
        try await send(method, target, body: body).decoded(type)
    }

    /// Sends a request that must succeed and ignores the answer's body.
    package func perform(_ method: String, _ target: String, body: String? = nil) async throws {
        _ = try await send(method, target, body: body)
    }

    /// Returns the server's status.
    package func status() async throws -> ServerStatus { try await request("GET", "/v1/status") }

    /// Returns the notifications that the built-in devices of an ephemeral server received.
    package func received() async throws -> [TestDeviceNotification] {
        try await request("GET", "/v1/ephemeral/notifications", as: TestDeviceNotifications.self).notifications
    }

    private func send(_ method: String, _ target: String, body: String?) async throws -> ProgramResult {
        var arguments = ["-sS", "--fail-with-body", "--max-time", "60", "--unix-socket", path, "-X", method]
        if let body { arguments += ["-H", "content-type: application/json", "--data-binary", body] }
        return try await RunningProcess.run(
            try RepositoryPaths.tool("curl"), arguments + ["http://posthorn\(target)"]
        ).succeeded()
    }
}

/// The part of the `GET /v1/status` answer that tests use.
package struct ServerStatus: Decodable, Sendable {
    /// The URL to which providers and devices connect.
    package let serverURL: String
    /// The server's own team.
    package let teamID: String
    package let counts: Counts
    package let connections: Connections?

    /// The numbers of connections to the network ports.
    package struct Connections: Decodable, Sendable {
        /// The number of connections without a verified credential.
        package let strangers: Int
        /// The number of connections since the start that were closed to make room for others.
        package let shed: Int
    }

    /// The store's counters.
    package struct Counts: Decodable, Sendable {
        /// The number of devices with an open stream.
        package let devicesConnected: Int
        /// The number of waiting notifications.
        package let pending: Int
        /// The number of notifications answered with 200 since the start.
        package let accepted: Int
        /// The number of notifications acknowledged since the start.
        package let acknowledged: Int

        private enum CodingKeys: String, CodingKey {
            case pending, accepted, acknowledged
            case devicesConnected = "devices_connected"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case counts, connections
        case serverURL = "server_url"
        case teamID = "team_id"
    }
}

/// A notification that a built-in device of an ephemeral server received.
package struct TestDeviceNotification: Decodable, Sendable {
    /// The topic for which the device was registered.
    package let topic: String
    package let token: String
    /// The provider's `apns-*` header fields.
    package let headers: [String: String]
    /// The unchanged payload.
    package let payload: String
}

private struct TestDeviceNotifications: Decodable {
    let notifications: [TestDeviceNotification]
}
