// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// Rates and quotas as they are configured: what holds for each team, key, app and device token unless it was set
/// otherwise for one of them.
package struct QuotaDefaults: Equatable, Sendable {
    /// Of each team.
    package var team = QuotaLimits()
    /// Of each signing key and client certificate.
    package var key = QuotaLimits()
    /// Of each app.
    package var topic = QuotaLimits()
    /// Requests a second to each device token; 0 for no limit.
    package var deviceRate: Int64? = Limits.deviceRateDefault
    /// Requests to each device token that may come at once; as many as `deviceRate` when nil.
    package var deviceBurst: Int64? = Limits.deviceBurstDefault

    /// Bad device tokens in an hour of a team for which nothing else is set; nil for no limit.
    ///
    /// This limit is not part of `team`, because each request checks a limit there.
    package var unsetBadTokens: Int64? = Limits.teamBadTokensDefault

    /// Makes the default limits.
    package init() {}

    /// Those of a kind.
    subscript(kind: QuotaSubject.Kind) -> QuotaLimits {
        switch kind {
        case .team: team
        case .key: key
        case .topic: topic
        }
    }
}
