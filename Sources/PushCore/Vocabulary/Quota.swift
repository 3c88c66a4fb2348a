// SPDX-License-Identifier: Apache-2.0

/// Whose requests are counted together.
public struct QuotaSubject: Hashable, Sendable {
    /// What the name is of.
    public enum Kind: String, CaseIterable, Codable, Sendable {
        /// A team, with all its apps.
        case team
        /// A signing key, or a client certificate by its fingerprint.
        case key
        /// An app.
        case topic
    }

    /// What the name is of.
    public var kind: Kind
    /// A team id, a key id or the fingerprint of a certificate, or a topic.
    public var name: String

    /// Joins the parts.
    public init(_ kind: Kind, _ name: String) {
        self.kind = kind
        self.name = name
    }
}

/// How much a subject may send; in each member nil leaves it to what else is said, and 0 is no limit.
public struct QuotaLimits: Codable, Equatable, Sendable {
    /// Requests a second.
    public var rate: Int64?
    /// Requests that may come at once after a pause; as many as `rate` when nil.
    public var burst: Int64?
    /// Notifications in one day of UTC.
    public var daily: Int64?
    /// Device tokens in an hour that are none of this server; for teams only.
    public var badTokens: Int64?

    /// Joins the parts.
    public init(rate: Int64? = nil, burst: Int64? = nil, daily: Int64? = nil, badTokens: Int64? = nil) {
        self.rate = rate
        self.burst = burst
        self.daily = daily
        self.badTokens = badTokens
    }

    /// These limits, and where they say nothing, others; a burst belongs to its rate.
    ///
    /// - Parameter others: What holds otherwise.
    /// - Returns: Both.
    public func or(_ others: QuotaLimits) -> QuotaLimits {
        QuotaLimits(
            rate: rate ?? others.rate, burst: rate == nil ? burst ?? others.burst : burst, daily: daily ?? others.daily,
            badTokens: badTokens ?? others.badTokens)
    }

    /// Whether nothing is said.
    public var isEmpty: Bool { self == QuotaLimits() }

    private enum CodingKeys: String, CodingKey {
        case rate, burst, daily
        case badTokens = "bad_tokens"
    }
}
