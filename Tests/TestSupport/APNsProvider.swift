// SPDX-License-Identifier: Apache-2.0

/// A provider that sends with aioapns over one connection.
package final class APNsProvider: Sendable {
    private let script: ScriptedProcess

    /// Starts it; it connects with the first notification.
    ///
    /// - Parameters:
    ///   - target: The server.
    ///   - connectionAttempts: How often aioapns tries again when a connection is refused or lost.
    /// - Throws: What starting Python throws.
    package init(_ target: ProviderTarget, connectionAttempts: Int = 2) async throws {
        script = try ScriptedProcess(script: "apns_provider.py")
        let command = Connect(target: target, connectionAttempts: connectionAttempts)
        let _: Done = try await script.ask(command)
    }

    /// Sends notifications, many at once, and waits for all answers.
    ///
    /// - Parameters:
    ///   - notifications: What to send.
    ///   - concurrency: How many may wait for their answer at a time; 1 keeps them in order.
    ///   - duration: The deadline from now.
    /// - Returns: The results in the same order.
    /// - Throws: `ProviderFailure` when a connection was lost more often than allowed.
    package func send(
        _ notifications: [SentNotification], concurrency: Int = 200, within duration: Duration = Patience.usual
    ) async throws -> [SendResult] {
        let command = Send(notifications: notifications, concurrency: concurrency)
        return try await script.ask(command, within: duration, as: Results.self).results
    }

    /// Sends one notification.
    package func send(_ notification: SentNotification) async throws -> SendResult {
        try await send([notification])[0]
    }

    /// Begins to send to addresses in turn, each notification until it is answered, whatever happens to the server.
    ///
    /// - Parameters:
    ///   - addresses: Device tokens and their topics.
    ///   - countPerAddress: How many notifications each gets at most.
    /// - Throws: What asking the script throws.
    package func startLoad(_ addresses: [Address], countPerAddress: Int) async throws {
        let _: Done = try await script.ask(StartLoad(addresses: addresses, countPerAddress: countPerAddress))
    }

    /// A device token and the topic that belongs to it.
    package struct Address: Codable, Sendable {
        /// The device token.
        package let token: String
        /// The topic.
        package let topic: String

        /// Joins the two.
        package init(token: String, topic: String) {
            self.token = token
            self.topic = topic
        }
    }

    /// Ends what `startLoad` began.
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

/// One notification for aioapns to send.
package struct SentNotification: Encodable, Sendable {
    /// The device token.
    package var token: String
    /// The payload, JSON.
    package var payload: String
    /// `apns-topic`; the target's topic when nil.
    package var topic: String?
    /// `apns-id`; made by aioapns when nil.
    package var id: String?
    /// `apns-push-type`.
    package var pushType = "alert"
    /// `apns-priority`.
    package var priority: Int?
    /// `apns-collapse-id`.
    package var collapseID: String?
    /// `apns-expiration`, in seconds from now.
    package var timeToLiveSeconds: Int?

    /// A notification with only the necessary.
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

/// What a provider heard about one notification.
package struct SendResult: Decodable, Equatable, Sendable {
    /// The `apns-id` that was sent.
    package let id: String
    /// The HTTP status.
    package let status: Int
    /// The rejection reason; nil with 200.
    package let reason: String?
    /// With 410: since when, UNIX milliseconds.
    package let timestamp: Int64?
}

/// What a provider heard while it sent until it was stopped.
package struct LoadResult: Decodable, Sendable {
    /// The `apns-id` of each notification that was answered with 200, in order.
    package let accepted: [String]
    /// How often each reason or exception came.
    package let refused: [String: Int]
}
