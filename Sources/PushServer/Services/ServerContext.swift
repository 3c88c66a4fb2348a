// SPDX-License-Identifier: Apache-2.0

internal import PushCluster
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
    private let running: Lock<RunningSettings>
    let installation: Installation
    let storeCondition: StoreCondition
    let quotas: Quotas
    /// The devices whose secrets were used recently.
    let deviceSecrets = DeviceSecretCache()
    let backups: BackupKeeper
    let authorities: AuthorityKeeper
    /// The destination of links that other nodes open; nil without a cluster.
    let acceptedLinks: AcceptedLinks?
    /// The URL for providers and devices, for example `https://push.example.org:2197`.
    let serverURL: String
    let startedAt: Timestamp
    /// The number of databases, each of which may be down while the others serve their devices.
    let databaseCount: Int
    let metrics: ServerMetrics
    let log: EventLog

    init(
        serving: ServingContext, configuration: ServerConfiguration, installation: Installation,
        storeCondition: StoreCondition, quotas: Quotas, backups: BackupKeeper, authorities: AuthorityKeeper,
        serverURL: String, startedAt: Timestamp, storeMetrics: StoreMetrics = StoreMetrics(),
        acceptedLinks: AcceptedLinks? = nil
    ) {
        self.serving = serving
        running = Lock(RunningSettings(configuration))
        self.installation = installation
        self.storeCondition = storeCondition
        self.quotas = quotas
        self.backups = backups
        self.authorities = authorities
        self.serverURL = serverURL
        self.acceptedLinks = acceptedLinks
        self.startedAt = startedAt
        databaseCount = 1 + configuration.shardAddresses.count
        metrics = ServerMetrics(loops: serving.loopMetrics, store: storeMetrics)
        log = serving.log
    }

    /// The settings that apply now.
    ///
    /// A loop keeps its own reference, `LoopServices.settings`.
    var settings: RunningSettings { running.withLock { $0 } }

    /// Replaces the settings; the loops learn of it by a message.
    func apply(_ configuration: ServerConfiguration) {
        running.withLock { $0 = RunningSettings(configuration, former: $0) }
        quotas.setDefaults(configuration.quotas)
    }
}
