// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The configured rates of strangers and devices.
struct PrincipalLimits: Equatable, Sendable {
    /// The refill rate and the size of a token bucket.
    struct Rate: Equatable, Sendable {
        /// The refill rate per second; 0 means no limit.
        var perSecond: Int64
        /// The burst; nil means `perSecond`.
        var burst: Int64?

        init(_ perSecond: Int64, burst: Int64? = nil) {
            self.perSecond = perSecond
            self.burst = burst
        }

        /// The text of the rate in a configuration file.
        var text: String { burst.map { "\(perSecond)/\($0)" } ?? "\(perSecond)" }
    }

    /// The rate of refused requests without a proven credential, per network.
    var strangerRequests = Rate(Limits.strangerRequestRateDefault, burst: Limits.strangerRequestBurstDefault)
    /// The rate of wrong credentials, per network.
    var strangerCredentials = Rate(
        Limits.strangerCredentialRateDefault, burst: Limits.strangerCredentialBurstDefault)
    /// The rate of enrolments without a code, per network.
    var strangerEnrolments = Rate(
        Limits.strangerEnrolmentRateDefault, burst: Limits.strangerEnrolmentBurstDefault)
    /// The rate of requests, per device.
    var deviceRequests = Rate(Limits.deviceRequestRateDefault, burst: Limits.deviceRequestBurstDefault)
    /// The rate of acknowledgements, per device.
    var deviceAcknowledgements = Rate(
        Limits.acknowledgementRateDefault, burst: Limits.acknowledgementBurstDefault)
    /// The rate of opened streams, per device.
    var deviceStreams = Rate(Limits.deviceStreamRateDefault, burst: Limits.deviceStreamBurstDefault)

    /// Creates the default limits.
    init() {}
}
