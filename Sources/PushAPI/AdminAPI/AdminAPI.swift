// SPDX-License-Identifier: Apache-2.0

public import PushCore

/// The JSON bodies of the admin API, which runs over a UNIX socket; docs/reference/admin-api.md lists the requests.
public enum AdminAPI {
    /// The body of `POST /v1/apps`.
    public struct NewApp: Codable, Sendable {
        /// The topic, for example `com.example.MyApp`.
        public var topic: TopicName
        /// The app's display name; the topic when nil.
        public var name: String?
        /// The team that owns the app; the server's own team when nil.
        public var teamID: String?
        /// The mode of the payload checks; `warn` when nil.
        public var checks: PayloadChecks?
        /// Whether the app may have broadcast channels; false when nil.
        public var broadcasts: Bool?

        public init(
            topic: TopicName, name: String? = nil, teamID: String? = nil, checks: PayloadChecks? = nil,
            broadcasts: Bool? = nil
        ) {
            self.topic = topic
            self.name = name
            self.teamID = teamID
            self.checks = checks
            self.broadcasts = broadcasts
        }

        private enum CodingKeys: String, CodingKey {
            case topic, name, checks, broadcasts
            case teamID = "team_id"
        }
    }

    /// The body of `PATCH /v1/apps/{topic}`; a nil member leaves the value unchanged.
    public struct AppChange: Codable, Sendable {
        /// The app's display name.
        public var name: String?
        /// The mode of the payload checks.
        public var checks: PayloadChecks?
        /// Whether the app may have broadcast channels; false removes the existing ones.
        public var broadcasts: Bool?

        public init(name: String? = nil, checks: PayloadChecks? = nil, broadcasts: Bool? = nil) {
            self.name = name
            self.checks = checks
            self.broadcasts = broadcasts
        }
    }

    /// An app in the responses of `/v1/apps`.
    public struct App: Codable, Sendable {
        public var topic: TopicName
        /// The display name.
        public var name: String
        /// The team that owns the app.
        public var teamID: String
        /// The number of active registrations.
        public var registrationCount: Int
        /// The number of pending notifications.
        public var pendingCount: Int
        /// The mode of the payload checks.
        public var checks: PayloadChecks
        /// Whether the app may have broadcast channels.
        public var broadcasts: Bool
        /// The webhook that reports delivery results to the app's back-end; nil if none is set.
        public var webhook: TraceAPI.Webhook?

        public init(
            topic: TopicName, name: String, teamID: String, registrationCount: Int, pendingCount: Int,
            checks: PayloadChecks = .warn, broadcasts: Bool = false, webhook: TraceAPI.Webhook? = nil
        ) {
            self.webhook = webhook
            self.topic = topic
            self.name = name
            self.teamID = teamID
            self.checks = checks
            self.broadcasts = broadcasts
            self.registrationCount = registrationCount
            self.pendingCount = pendingCount
        }

        private enum CodingKeys: String, CodingKey {
            case topic, name, checks, broadcasts, webhook
            case teamID = "team_id"
            case registrationCount = "registration_count"
            case pendingCount = "pending_count"
        }
    }

    /// The response of `GET /v1/apps`.
    public struct Apps: Codable, Sendable {
        /// The apps, sorted by topic.
        public var apps: [App]

        public init(apps: [App]) { self.apps = apps }
    }

    /// The number of requests that one limit refused.
    public struct Refusal: Codable, Equatable, Sendable {
        /// The kind of peer: `stranger` (unauthenticated), `device` or `provider`.
        public var principal: String
        /// A stable word for the cause, for example `credentials`.
        public var cause: String
        /// The number of refused requests since the server started.
        public var count: Int64

        public init(principal: String, cause: String, count: Int64) {
            self.principal = principal
            self.cause = cause
            self.count = count
        }
    }
}
