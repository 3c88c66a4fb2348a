// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushServing

/// The configured limits, and the rates of all subjects without limits of their own; a reload replaces it.
final class QuotaRules: Sendable {
    let defaults: QuotaDefaults
    /// The rates of device tokens; nil if they have no limit.
    let devices: DeviceRates?
    /// The rates of bad device tokens for teams without a limit of their own, by team ID.
    let defaultBadTokensPerTeam: RateTable?

    /// Creates the rates.
    ///
    /// - Parameters:
    ///   - defaults: The configured limits.
    ///   - former: The former rules; what did not change keeps its use.
    init(_ defaults: QuotaDefaults, former: QuotaRules? = nil) {
        self.defaults = defaults
        if let former, former.defaults.deviceRate == defaults.deviceRate,
            former.defaults.deviceBurst == defaults.deviceBurst
        {
            devices = former.devices
        } else {
            devices = defaults.deviceRate.positive.map { rate in
                DeviceRates(TokenBucket(of: defaults.deviceBurst.positive ?? rate, refilledBy: rate))
            }
        }
        if let former, former.defaults.defaultBadTokensPerTeam == defaults.defaultBadTokensPerTeam {
            defaultBadTokensPerTeam = former.defaultBadTokensPerTeam
        } else {
            defaultBadTokensPerTeam = defaults.defaultBadTokensPerTeam.positive.map { count in
                RateTable(
                    TokenBucket(of: count, refilledBy: count, inSeconds: 3600), countMax: Limits.strangerRateCountMax)
            }
        }
    }
}
