// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushServing
internal import PushStore
internal import PushTLS

/// The state that all loops share, immutable or locked, for the APIs.
///
/// This is a class so that a loop that reads one property does not copy the others.
final class ServerContext: Sendable {
    /// The part for the loops.
    let serving: ServingContext
    let configuration: ServerConfiguration
    let installation: Installation
    let storeCondition: StoreCondition
    let quotas: Quotas
    /// The request rates of strangers and devices.
    let rates: PrincipalRates
    /// The devices whose secrets were used recently.
    let deviceSecrets = DeviceSecretCache()
    let backups: BackupKeeper
    let authorities: AuthorityKeeper
    /// The URL for providers and devices, for example `https://push.example.org:2197`.
    let serverURL: String
    let startedAt: Timestamp
    let log: EventLog

    init(
        serving: ServingContext, configuration: ServerConfiguration, installation: Installation,
        storeCondition: StoreCondition, quotas: Quotas, backups: BackupKeeper, authorities: AuthorityKeeper,
        serverURL: String, startedAt: Timestamp
    ) {
        self.serving = serving
        self.configuration = configuration
        self.installation = installation
        self.storeCondition = storeCondition
        self.quotas = quotas
        rates = PrincipalRates(configuration.principalLimits)
        self.backups = backups
        self.authorities = authorities
        self.serverURL = serverURL
        self.startedAt = startedAt
        log = serving.log
    }
}
