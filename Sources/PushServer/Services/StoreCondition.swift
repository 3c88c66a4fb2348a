// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore
internal import Synchronization

/// Whether the store's disk is full, according to its latest notice; any thread may read it.
final class StoreCondition: Sendable {
    // UNIX seconds, 0 while there is space. Relaxed ordering suffices: no other data depends on this value, and the
    // mailbox that delivers a refusal to a loop orders it after the notice.
    private let fullSince = Atomic<Int64>(0)

    /// The time since which the disk has been full; nil while there is space.
    var diskFullSince: Timestamp? {
        let seconds = fullSince.load(ordering: .relaxed)
        return seconds == 0 ? nil : Timestamp(unixSeconds: seconds)
    }

    /// The rejection for a provider whose request the store did not accept.
    var rejection: Rejection {
        guard diskFullSince != nil else { return Rejection(.serviceUnavailable) }
        return Rejection(
            .serviceUnavailable,
            "The server's disk is full and nothing was stored. The administrator must free space. Try again later.")
    }

    /// Updates the condition from a notice of the store.
    func note(_ notice: StoreNotice, now: Timestamp) {
        switch notice {
        case .diskFull: fullSince.store(now.unixSeconds, ordering: .relaxed)
        case .spaceReturned: fullSince.store(0, ordering: .relaxed)
        case .damagedRow: break
        }
    }
}
