// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// The registration of an app on a device, live or ended.
package struct RegistrationState: Sendable {
    package var generation: UInt32
    package var isLive: Bool
    /// Whether the device refuses this topic.
    package var isRefused: Bool
    /// The end of the last registration that ended.
    package var endedAt: Timestamp?
    /// Whether that registration ended because its device was unseen for too long.
    package var hasExpired: Bool

    package init(generation: UInt32, isLive: Bool, isRefused: Bool, endedAt: Timestamp?, hasExpired: Bool) {
        self.generation = generation
        self.isLive = isLive
        self.isRefused = isRefused
        self.endedAt = endedAt
        self.hasExpired = hasExpired
    }

    /// Returns the reason why a generation of the device token is rejected, and when it ended; nil for the live
    /// one.
    package func rejection(of generation: UInt32) -> (reason: RejectionReason, endedAt: Timestamp?)? {
        if isLive, generation == self.generation { return nil }
        let isLastEnded = isLive ? generation &+ 1 == self.generation : generation == self.generation
        return (hasExpired && isLastEnded ? .expiredToken : .unregistered, endedAt)
    }
}
