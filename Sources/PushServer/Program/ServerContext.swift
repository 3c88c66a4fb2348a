// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushStore
internal import PushTLS

/// What all loops share and nobody changes; a class, so that a loop that asks for one thing does not copy all.
final class ServerContext: Sendable {
    let configuration: ServerConfiguration
    let installation: Installation
    let store: any NotificationStore
    let storeCondition: StoreCondition
    let quotas: Quotas
    /// The rates of strangers and devices.
    let rates: PrincipalRates
    /// The devices behind the secrets that came of late.
    let deviceSecrets = DeviceSecretCache()
    let limiter: ConnectionLimiter
    let memory: MemoryBudget
    /// The mailboxes of the data loops, by their index.
    let dataLoops: [Mailbox<LoopMessage>]
    let backups: BackupKeeper
    let log: EventLog
    /// For example `https://push.example.org:2197`.
    let serverURL: String
    let startedUnixSeconds: Int64
    /// Answers that a test ordered; nil unless the server is ephemeral.
    let orderedFailures: OrderedFailures?

    init(
        configuration: ServerConfiguration, installation: Installation, store: any NotificationStore,
        storeCondition: StoreCondition, quotas: Quotas, limiter: ConnectionLimiter, memory: MemoryBudget,
        dataLoops: [Mailbox<LoopMessage>], backups: BackupKeeper, log: EventLog, serverURL: String,
        startedUnixSeconds: Int64,
        orderedFailures: OrderedFailures?
    ) {
        self.configuration = configuration
        self.installation = installation
        self.store = store
        self.storeCondition = storeCondition
        self.quotas = quotas
        rates = PrincipalRates(configuration.principalLimits)
        self.limiter = limiter
        self.memory = memory
        self.dataLoops = dataLoops
        self.backups = backups
        self.log = log
        self.serverURL = serverURL
        self.startedUnixSeconds = startedUnixSeconds
        self.orderedFailures = orderedFailures
    }
}
