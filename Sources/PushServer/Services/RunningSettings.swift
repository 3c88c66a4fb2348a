// SPDX-License-Identifier: Apache-2.0

/// The settings that apply now, and the rates that follow from them; a reload replaces them.
final class RunningSettings: Sendable {
    let configuration: ServerConfiguration
    /// The request rates of strangers and devices.
    let rates: PrincipalRates

    /// Creates the settings; rates that did not change keep their use.
    init(_ configuration: ServerConfiguration, former: RunningSettings? = nil) {
        self.configuration = configuration
        rates = PrincipalRates(configuration.principalLimits, former: former?.rates)
    }
}
