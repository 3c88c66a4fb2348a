// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushStore
internal import PushTLS

/// The immutable state that all loops share.
///
/// This is a class so that a loop that reads one property does not copy the others.
final class ServerContext: Sendable {
    let configuration: ServerConfiguration
    let installation: Installation
    let store: any NotificationStore
    let storeCondition: StoreCondition
    let quotas: Quotas
    /// The request rates of strangers and devices.
    let rates: PrincipalRates
    /// The devices whose secrets were used recently.
    let deviceSecrets = DeviceSecretCache()
    let limiter: ConnectionLimiter
    let memory: MemoryBudget
    /// The mailboxes of the data loops, by loop index.
    let dataLoops: [Mailbox<LoopMessage>]
    let backups: BackupKeeper
    let log: EventLog
    /// The URL for providers and devices, for example `https://push.example.org:2197`.
    let serverURL: String
    let startedUnixSeconds: Int64
    /// Creates the endpoint of a listener.
    let makeEndpoint: @Sendable (Listener.Kind, ServerLoop) -> any Endpoint
    /// Nil unless the server is ephemeral.
    let testMode: TestMode?

    init(
        configuration: ServerConfiguration, installation: Installation, store: any NotificationStore,
        storeCondition: StoreCondition, quotas: Quotas, limiter: ConnectionLimiter, memory: MemoryBudget,
        dataLoops: [Mailbox<LoopMessage>], backups: BackupKeeper, log: EventLog, serverURL: String,
        startedUnixSeconds: Int64, makeEndpoint: @escaping @Sendable (Listener.Kind, ServerLoop) -> any Endpoint,
        testMode: TestMode?
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
        self.makeEndpoint = makeEndpoint
        self.testMode = testMode
    }
}
