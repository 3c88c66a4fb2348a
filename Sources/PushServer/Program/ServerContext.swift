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
    let backups: BackupKeeper
    let log: EventLog
    /// For example `https://push.example.org:2197`.
    let serverURL: String
    let startedUnixSeconds: Int64
    /// Answers that a test ordered; nil unless the server is ephemeral.
    let orderedFailures: OrderedFailures?

    init(
        configuration: ServerConfiguration, installation: Installation, store: any NotificationStore,
        storeCondition: StoreCondition, quotas: Quotas, backups: BackupKeeper, log: EventLog, serverURL: String,
        startedUnixSeconds: Int64,
        orderedFailures: OrderedFailures?
    ) {
        self.configuration = configuration
        self.installation = installation
        self.store = store
        self.storeCondition = storeCondition
        self.quotas = quotas
        self.backups = backups
        self.log = log
        self.serverURL = serverURL
        self.startedUnixSeconds = startedUnixSeconds
        self.orderedFailures = orderedFailures
    }
}
