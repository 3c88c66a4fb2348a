// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore

/// The registration of an app on a device, live or ended.
struct RegistrationState: Sendable {
    var generation: UInt32
    var isLive: Bool
    /// Whether the device refuses this topic.
    var isRefused: Bool
    /// The end of the last registration that ended.
    var endedAt: Timestamp?
    /// Whether that registration ended because its device was unseen for too long.
    var hasExpired: Bool

    /// Returns the reason why a generation of the device token is rejected, and when it ended; nil for the live
    /// one.
    func rejection(of generation: UInt32) -> (reason: RejectionReason, endedAt: Timestamp?)? {
        if isLive, generation == self.generation { return nil }
        let isLastEnded = isLive ? generation &+ 1 == self.generation : generation == self.generation
        return (hasExpired && isLastEnded ? .expiredToken : .unregistered, endedAt)
    }
}
