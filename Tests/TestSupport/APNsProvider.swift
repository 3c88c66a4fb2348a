// SPDX-License-Identifier: Apache-2.0

/// A provider that sends notifications with the Python package aioapns over one connection.
package final class APNsProvider: Sendable {
    private let script: ScriptedProcess

    /// Starts the provider, which connects with the first notification.
    ///
    /// - Parameters:
    ///   - target: The server.
    ///   - connectionAttempts: The number of attempts of aioapns after a refused or lost connection.
    /// - Throws: The errors of starting Python.
    package init(_ target: ProviderTarget, connectionAttempts: Int = 2) async throws {
        script = ScriptedProcess(script: "apns_provider.py")
        let command = Connect(target: target, connectionAttempts: connectionAttempts)
        let _: Done = try await script.ask(command)
    }

    /// Sends notifications concurrently and waits for all answers.
    ///
    /// - Parameters:
    ///   - notifications: The notifications.
    ///   - concurrency: The maximum number of unanswered notifications; 1 keeps them in order.
    ///   - duration: The deadline from now.
    /// - Returns: The results in the order of the notifications.
    /// - Throws: `ProviderFailure` when a connection was lost more often than allowed.
    package func send(
        _ notifications: [SentNotification], concurrency: Int = 200, within duration: Duration = Patience.usual
    ) async throws -> [SendResult] {
        for notification in notifications.prefix(100) { SecretWords.add(payload: notification.payload) }
        let command = Send(notifications: notifications, concurrency: concurrency)
        return try await script.ask(command, within: duration, as: Results.self).results
    }

    package func send(_ notification: SentNotification) async throws -> SendResult {
        try await send([notification])[0]
    }

    /// Starts to send to addresses in turn, and retries each notification until it is answered.
    ///
    /// - Parameters:
    ///   - addresses: The device tokens and their topics.
    ///   - countPerAddress: The maximum number of notifications to each address.
    /// - Throws: The errors of the script.
    package func startLoad(_ addresses: [Address], countPerAddress: Int) async throws {
        let _: Done = try await script.ask(StartLoad(addresses: addresses, countPerAddress: countPerAddress))
    }

    package struct Address: Codable, Sendable {
        package let token: String
        package let topic: String

        package init(token: String, topic: String) {
            self.token = token
            self.topic = topic
        }
    }

    /// Stops the load that `startLoad` began.
    package func stopLoad() async throws -> LoadResult {
        try await script.ask(["op": "stop_load"], within: .seconds(90))
    }

    private struct Connect: Encodable {
        let target: ProviderTarget
        let connectionAttempts: Int

        func encode(to encoder: any Encoder) throws {
            try target.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode("connect", forKey: .op)
            try container.encode(connectionAttempts, forKey: .connectionAttempts)
        }

        private enum CodingKeys: String, CodingKey {
            case op
            case connectionAttempts = "connection_attempts"
        }
    }

    private struct Send: Encodable {
        var op = "send"
        let notifications: [SentNotification]
        let concurrency: Int
    }

    private struct StartLoad: Encodable {
        var op = "start_load"
        let addresses: [Address]
        let countPerAddress: Int

        enum CodingKeys: String, CodingKey {
            case op, addresses
            case countPerAddress = "count_per_address"
        }
    }

    private struct Results: Decodable {
        let results: [SendResult]
    }
}

/// A notification for aioapns to send.
package struct SentNotification: Encodable, Sendable {
    package var token: String
    /// The payload as JSON.
    package var payload: String
    /// The `apns-topic`; nil for the target's topic.
    package var topic: String?
    /// The `apns-id`; nil lets aioapns generate one.
    package var id: String?
    /// The value of `apns-push-type`.
    package var pushType = "alert"
    /// The value of `apns-priority`.
    package var priority: Int?
    /// The value of `apns-collapse-id`.
    package var collapseID: String?
    /// The `apns-expiration`, in seconds from now.
    package var timeToLiveSeconds: Int?

    /// Creates a notification without optional header fields except the topic and the ID.
    package init(token: String, payload: String, topic: String? = nil, id: String? = nil) {
        self.token = token
        self.payload = payload
        self.topic = topic
        self.id = id
    }

    private enum CodingKeys: String, CodingKey {
        case token, payload, topic, id, priority
        case pushType = "push_type"
        case collapseID = "collapse_id"
        case timeToLiveSeconds = "time_to_live"
    }
}

/// The answer to one notification.
package struct SendResult: Decodable, Equatable, Sendable {
    /// The `apns-id` that was sent.
    package let id: String
    package let status: Int
    /// The rejection reason; nil for status 200.
    package let reason: String?
    /// The end of the registration in UNIX milliseconds, for status 410.
    package let timestamp: Int64?
}

/// The answers to the notifications that were sent until the load was stopped.
package struct LoadResult: Decodable, Sendable {
    /// The `apns-id` of each notification that was answered with 200, in order.
    package let accepted: [String]
    /// The number of occurrences of each reason or exception.
    package let refused: [String: Int]
}
