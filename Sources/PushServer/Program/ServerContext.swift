// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushStore
internal import PushTLS

/// What all loops share and nobody changes.
struct ServerContext: Sendable {
    let configuration: ServerConfiguration
    let installation: Installation
    let store: any NotificationStore
    let quotas: Quotas
    let log: EventLog
    /// For example `https://push.example.org:2197`.
    let serverURL: String
    let startedUnixSeconds: Int64
    /// Answers that a test ordered; nil unless the server is ephemeral.
    let orderedFailures: OrderedFailures?
}
