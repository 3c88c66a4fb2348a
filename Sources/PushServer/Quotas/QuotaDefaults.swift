// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The configured rates and quotas.
///
/// They apply to each team, key, app and device token that has no settings of its own.
struct QuotaDefaults: Equatable, Sendable {
    /// The limits of each team.
    var team = QuotaLimits()
    /// The limits of each signing key and client certificate.
    var key = QuotaLimits()
    /// The limits of each app.
    var topic = QuotaLimits()
    /// The rate of requests to each device token, per second; 0 means no limit.
    var deviceRate: Int64? = Limits.deviceRateDefault
    /// The burst of requests to each device token; nil means `deviceRate`.
    var deviceBurst: Int64? = Limits.deviceBurstDefault

    /// The maximum of bad device tokens per hour of a team without a limit of its own; nil means no limit.
    ///
    /// This limit is not part of `team`, because each request checks the limits there.
    var defaultBadTokensPerTeam: Int64? = Limits.teamBadTokensDefault

    /// Creates the default limits.
    init() {}

    /// The limits of each subject of a kind.
    subscript(kind: QuotaSubject.Kind) -> QuotaLimits {
        switch kind {
        case .team: team
        case .key: key
        case .topic: topic
        }
    }
}
