// SPDX-License-Identifier: Apache-2.0

extension AdminAPI {
    /// One limit of a team, key or app and how much of it is used, in answers of `/v1/quotas`.
    public struct Quota: Codable, Equatable, Sendable {
        /// What is limited.
        public enum Limit: String, Codable, Sendable {
            /// Requests a second.
            case rate
            /// Notifications in one day of UTC.
            case daily
            /// Device tokens in an hour that are none of this server.
            case badTokens = "bad_tokens"
        }

        /// What `name` is of.
        public var kind: QuotaSubject.Kind
        /// A team id, a key id or the fingerprint of a certificate, or a topic.
        public var name: String
        /// What is limited.
        public var limit: Limit
        /// How much may come: of a rate, at once.
        public var allowed: Int64
        /// Requests a second; of a rate only.
        public var rate: Int64?
        /// How much of `allowed` is used.
        public var used: Int64
        /// How much is left.
        public var remaining: Int64
        /// Seconds until all of it is free again.
        public var resetsIn: Int64
        /// Requests of this subject that were refused for any of its limits, since the server started.
        public var refused: Int64

        /// Joins the parts.
        public init(
            _ subject: QuotaSubject, _ limit: Limit, allowed: Int64, rate: Int64? = nil, remaining: Int64,
            resetsIn: Int64, refused: Int64
        ) {
            kind = subject.kind
            name = subject.name
            self.limit = limit
            self.allowed = allowed
            self.rate = rate
            used = allowed - remaining
            self.remaining = remaining
            self.resetsIn = resetsIn
            self.refused = refused
        }

        private enum CodingKeys: String, CodingKey {
            case kind, name, limit, allowed, rate, used, remaining, refused
            case resetsIn = "resets_in"
        }
    }

    /// The answer of `GET /v1/quotas`, and of requests about one team, key or app.
    public struct Quotas: Codable, Equatable, Sendable {
        /// Teams, then keys, then apps; nothing of those without a limit.
        public var quotas: [Quota]
        /// Requests a second to each device token; nil where there is no such limit, and in answers about one subject.
        public var deviceRate: Int64?
        /// Requests to each device token that may come at once.
        public var deviceBurst: Int64?

        /// Joins the parts.
        public init(quotas: [Quota], deviceRate: Int64? = nil, deviceBurst: Int64? = nil) {
            self.quotas = quotas
            self.deviceRate = deviceRate
            self.deviceBurst = deviceBurst
        }

        private enum CodingKeys: String, CodingKey {
            case quotas
            case deviceRate = "device_rate"
            case deviceBurst = "device_burst"
        }
    }
}
