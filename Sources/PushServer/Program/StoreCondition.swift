// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore
internal import Synchronization

/// Whether the store's disk is full, as the store told last; any thread may ask.
final class StoreCondition: Sendable {
    // UNIX seconds, 0 while there is space. Relaxed: nothing else is read by it, and the mailbox that brings a loop a
    // refusal orders it after the notice.
    private let fullSince = Atomic<Int64>(0)

    /// Since when the disk is full, UNIX seconds; nil while there is space.
    var diskFullSince: Int64? {
        let seconds = fullSince.load(ordering: .relaxed)
        return seconds == 0 ? nil : seconds
    }

    /// What a provider hears when the store does not take what it sent.
    var rejection: Rejection {
        guard diskFullSince != nil else { return Rejection(.serviceUnavailable) }
        return Rejection(
            .serviceUnavailable,
            "The server's disk is full and nothing was stored: its administrator must make space. Try again later.")
    }

    /// Takes what the store tells.
    func note(_ notice: StoreNotice, nowUnixSeconds: Int64) {
        switch notice {
        case .diskFull: fullSince.store(nowUnixSeconds, ordering: .relaxed)
        case .spaceReturned: fullSince.store(0, ordering: .relaxed)
        case .damagedRow: break
        }
    }
}
