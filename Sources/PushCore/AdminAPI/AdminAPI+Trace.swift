// SPDX-License-Identifier: Apache-2.0

extension AdminAPI {
    /// The answer of `GET /v1/trace`.
    public struct Trace: Codable, Sendable {
        /// In the order in which the server heard of them.
        public var events: [TraceEvent]
        /// What to give as `after` for the events behind these; nil when these were the last.
        public var next: Int64?
        /// When the oldest event that is kept happened, UNIX milliseconds; nil for an empty trace.
        public var oldestAt: Int64?

        /// Joins the parts.
        public init(events: [TraceEvent], next: Int64? = nil, oldestAt: Int64? = nil) {
            self.events = events
            self.next = next
            self.oldestAt = oldestAt
        }

        private enum CodingKeys: String, CodingKey {
            case events, next
            case oldestAt = "oldest_at"
        }
    }

    /// A step of a notification on its way.
    public struct TraceEvent: Codable, Sendable {
        /// The word of a `TraceStep`.
        public var event: String
        /// Why; the word of a `TraceDetail`.
        public var reason: String?
        /// When, UNIX milliseconds.
        public var at: Int64
        /// The number by which the events of one notification are told from those of another.
        public var sequence: Int64
        /// The device; nil for a broadcast as a whole.
        public var deviceID: String?
        /// The app; nil when that is not known any more.
        public var topic: String?
        /// `apns-id`; nil when that is not known any more.
        public var apnsID: String?
        /// `apns-unique-id`; nil when that is not known any more.
        public var apnsUniqueID: String?

        /// Joins the parts.
        public init(
            event: String, reason: String? = nil, at: Int64, sequence: Int64, deviceID: String? = nil,
            topic: String? = nil, apnsID: String? = nil, apnsUniqueID: String? = nil
        ) {
            self.event = event
            self.reason = reason
            self.at = at
            self.sequence = sequence
            self.deviceID = deviceID
            self.topic = topic
            self.apnsID = apnsID
            self.apnsUniqueID = apnsUniqueID
        }

        private enum CodingKeys: String, CodingKey {
            case event, reason, at, sequence, topic
            case deviceID = "device_id"
            case apnsID = "apns_id"
            case apnsUniqueID = "apns_unique_id"
        }
    }

    /// A webhook, in answers of `/v1/apps`.
    public struct Webhook: Codable, Sendable {
        /// Where it goes.
        public var url: String
        /// Since when the back-end does not take it, UNIX seconds; nil while it does.
        public var failingSince: Int64?
        /// What happened the last time; nil while the back-end takes it.
        public var problem: String?
        /// The key of its signatures; only in the answer to the request that made it.
        public var secret: String?

        /// Joins the parts.
        public init(url: String, failingSince: Int64? = nil, problem: String? = nil, secret: String? = nil) {
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
        /// `https://…`, or `http://…` to this machine.
        public var url: String
        /// The key of its signatures; made by the server when nil.
        public var secret: String?

        /// Joins both.
        public init(url: String, secret: String? = nil) {
            self.url = url
            self.secret = secret
        }
    }
}
