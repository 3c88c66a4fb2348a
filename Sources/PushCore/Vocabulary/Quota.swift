// SPDX-License-Identifier: Apache-2.0

/// A subject whose requests the server counts and limits together.
public struct QuotaSubject: Hashable, Sendable {
    /// The kind of subject.
    public enum Kind: String, CaseIterable, Codable, Sendable {
        /// A team with all its apps.
        case team
        /// A signing key, or a client certificate identified by its fingerprint.
        case key
        case topic
    }

    /// The kind of subject that `name` identifies.
    public var kind: Kind
    /// A team ID, a key ID, the fingerprint of a certificate, or a topic.
    public var name: String

    public init(_ kind: Kind, _ name: String) {
        self.kind = kind
        self.name = name
    }
}

/// The limits of a subject; a nil member falls back to the next source of limits, and 0 means unlimited.
public struct QuotaLimits: Codable, Equatable, Sendable {
    /// The number of requests per second.
    public var rate: Int64?
    /// The number of requests that may arrive in one burst after a pause; equal to `rate` when nil.
    public var burst: Int64?
    /// The number of notifications per UTC day.
    public var daily: Int64?
    /// The number of device tokens per hour that are not tokens of this server; applies to teams only.
    public var badTokens: Int64?

    public init(rate: Int64? = nil, burst: Int64? = nil, daily: Int64? = nil, badTokens: Int64? = nil) {
        self.rate = rate
        self.burst = burst
        self.daily = daily
        self.badTokens = badTokens
    }

    /// Returns these limits, with nil members filled from other limits.
    ///
    /// A burst belongs to its rate, so `others.burst` applies only when `rate` is nil.
    ///
    /// - Parameter others: The fallback limits.
    /// - Returns: The merged limits.
    public func or(_ others: QuotaLimits) -> QuotaLimits {
        QuotaLimits(
            rate: rate ?? others.rate, burst: rate == nil ? burst ?? others.burst : burst, daily: daily ?? others.daily,
            badTokens: badTokens ?? others.badTokens)
    }

    /// Whether all members are nil.
    public var isEmpty: Bool { self == QuotaLimits() }

    private enum CodingKeys: String, CodingKey {
        case rate, burst, daily
        case badTokens = "bad_tokens"
    }
}
