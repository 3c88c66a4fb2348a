// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The configured rates of strangers and devices.
package struct PrincipalLimits: Equatable, Sendable {
    /// Tokens of a bucket, and how fast they come back.
    package struct Rate: Equatable, Sendable {
        /// 0 for no limit.
        package var perSecond: Int64
        /// The burst; nil means `perSecond`.
        package var burst: Int64?

        /// Joins the parts.
        package init(_ perSecond: Int64, burst: Int64? = nil) {
            self.perSecond = perSecond
            self.burst = burst
        }

        /// The text of the rate in a configuration file.
        var text: String { burst.map { "\(perSecond)/\($0)" } ?? "\(perSecond)" }
    }

    /// Refused requests of each network that proved no credential.
    package var strangerRequests = Rate(Limits.strangerRequestRateDefault, burst: Limits.strangerRequestBurstDefault)
    /// Wrong credentials of each network.
    package var strangerCredentials = Rate(
        Limits.strangerCredentialRateDefault, burst: Limits.strangerCredentialBurstDefault)
    /// Enrolments without a code of each network.
    package var strangerEnrolments = Rate(
        Limits.strangerEnrolmentRateDefault, burst: Limits.strangerEnrolmentBurstDefault)
    /// Requests of each device.
    package var deviceRequests = Rate(Limits.deviceRequestRateDefault, burst: Limits.deviceRequestBurstDefault)
    /// Acknowledgements of each device.
    package var deviceAcknowledgements = Rate(
        Limits.acknowledgementRateDefault, burst: Limits.acknowledgementBurstDefault)
    /// Streams that each device opens.
    package var deviceStreams = Rate(Limits.deviceStreamRateDefault, burst: Limits.deviceStreamBurstDefault)

    /// Makes the default limits.
    package init() {}
}
