// SPDX-License-Identifier: Apache-2.0

public import PushCore

/// The JSON bodies of the admin API about the trace and the webhooks that report its events.
public enum TraceAPI {
    /// The response of `GET /v1/trace`.
    public struct Trace: Codable, Sendable {
        /// The events, in the order in which the server recorded them.
        public var events: [Event]
        /// The value of `after` that requests the next page of events; nil on the last page.
        public var next: Int64?
        /// Whether a search for the newest events left out earlier ones; nil if not.
        public var hasEarlier: Bool?
        /// The time of the oldest stored event; nil for an empty trace.
        public var oldestAt: Timestamp? { oldestMilliseconds.map(Timestamp.init(unixMilliseconds:)) }
        private var oldestMilliseconds: Int64?

        public init(events: [Event], next: Int64? = nil, hasEarlier: Bool? = nil, oldestAt: Timestamp? = nil) {
            self.hasEarlier = hasEarlier
            self.events = events
            self.next = next
            oldestMilliseconds = oldestAt?.unixMilliseconds
        }

        private enum CodingKeys: String, CodingKey {
            case events, next
            case hasEarlier = "has_earlier"
            case oldestMilliseconds = "oldest_at"
        }
    }

    /// One step in the life of a notification.
    public struct Event: Codable, Sendable {
        /// The raw value of a `TraceStep`.
        public var event: String
        /// The reason, as the raw value of a `TraceDetail`.
        public var reason: String?
        /// The time of the event.
        public var at: Timestamp { Timestamp(unixMilliseconds: milliseconds) }
        private var milliseconds: Int64
        /// The number that all events of one notification share.
        public var sequence: Int64
        /// The device; nil for events of a whole broadcast.
        public var deviceID: String?
        /// The app's topic; nil if it is no longer known.
        public var topic: TopicName?
        /// The `apns-id`; nil if it is no longer known.
        public var apnsID: String?
        /// The `apns-unique-id`; nil if it is no longer known.
        public var apnsUniqueID: String?

        public init(
            event: String, reason: String? = nil, at: Timestamp, sequence: Int64, deviceID: String? = nil,
            topic: TopicName? = nil, apnsID: String? = nil, apnsUniqueID: String? = nil
        ) {
            self.event = event
            self.reason = reason
            milliseconds = at.unixMilliseconds
            self.sequence = sequence
            self.deviceID = deviceID
            self.topic = topic
            self.apnsID = apnsID
            self.apnsUniqueID = apnsUniqueID
        }

        private enum CodingKeys: String, CodingKey {
            case event, reason, sequence, topic
            case milliseconds = "at"
            case deviceID = "device_id"
            case apnsID = "apns_id"
            case apnsUniqueID = "apns_unique_id"
        }
    }

    /// A webhook in the responses of `/v1/apps`.
    public struct Webhook: Codable, Sendable {
        /// The URL that receives the events.
        public var url: String
        /// The time since which requests fail; nil while they succeed.
        public var failingSince: Timestamp?
        /// The error of the last request; nil while requests succeed.
        public var problem: String?
        /// The key of the signatures; only the response to the request that creates it contains it.
        public var secret: String?

        public init(url: String, failingSince: Timestamp? = nil, problem: String? = nil, secret: String? = nil) {
            self.url = url
            self.failingSince = failingSince
            self.problem = problem
            self.secret = secret
        }

        private enum CodingKeys: String, CodingKey {
            case url, problem, secret
            case failingSince = "failing_since"
        }
    }

    /// The body of `PUT /v1/apps/{topic}/webhook`.
    public struct NewWebhook: Codable, Sendable {
        /// The URL: `https://…`, or `http://…` to this machine.
        public var url: String
        /// The key of the signatures; the server creates one when nil.
        public var secret: String?

        public init(url: String, secret: String? = nil) {
            self.url = url
            self.secret = secret
        }
    }
}
