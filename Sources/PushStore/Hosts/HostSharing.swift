// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The state that the store and the hosts of all loops share.
final class HostSharing: Sendable {
    let table = HostTable()
    let sequences: Sequences
    /// The receivers of all loops, of which some have hosts.
    let receivers: [any StoreReplyReceiver]
    /// The journal of each receiver.
    let journals: [HostJournal]
    /// Submits commands to the store, and empties the array.
    let submit: @Sendable (inout [StoreCommand]) -> Void
    /// Returns the wall-clock time.
    let now: @Sendable () -> Timestamp

    init(
        _ sequences: Sequences, receivers: [any StoreReplyReceiver], now: @escaping @Sendable () -> Timestamp,
        submit: @escaping @Sendable (inout [StoreCommand]) -> Void
    ) {
        self.sequences = sequences
        self.receivers = receivers
        self.submit = submit
        self.now = now
        journals = receivers.map { _ in HostJournal() }
    }
}
