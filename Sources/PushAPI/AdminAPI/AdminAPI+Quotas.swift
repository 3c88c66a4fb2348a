// SPDX-License-Identifier: Apache-2.0

public import PushCore

extension AdminAPI {
    /// One limit of a team, key or app and its current use, in the responses of `/v1/quotas`.
    public struct Quota: Codable, Equatable, Sendable {
        /// The quantity that is limited.
        public enum Limit: String, Codable, Sendable {
            /// Requests per second.
            case rate
            /// Notifications per UTC day.
            case daily
            /// Device tokens per hour that are not tokens of this server.
            case badTokens = "bad_tokens"
        }

        /// The kind of subject that `name` identifies.
        public var kind: QuotaSubject.Kind
        /// A team ID, a key ID, the fingerprint of a certificate, or a topic.
        public var name: String
        public var limit: Limit
        /// The limit itself; for `rate`, the number of requests that may arrive in one burst.
        public var allowed: Int64
        /// The requests per second; nil for limits other than `rate`.
        public var rate: Int64?
        /// The used part of `allowed`.
        public var used: Int64
        /// The unused part of `allowed`.
        public var remaining: Int64
        /// The seconds until all of `allowed` is available again.
        public var resetsIn: Int64
        /// The number of this subject's requests refused for any of its limits since the server started.
        public var refused: Int64

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

    /// The response of `GET /v1/quotas`, and of requests about one team, key or app.
    public struct Quotas: Codable, Equatable, Sendable {
        /// The limits of teams, then of keys, then of apps; subjects without a limit are omitted.
        public var quotas: [Quota]
        /// The requests per second to each device token; nil without such a limit and in responses about one subject.
        public var deviceRate: Int64?
        /// The number of requests to each device token that may arrive in one burst.
        public var deviceBurst: Int64?

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
