// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// A broadcast on its way to the connected subscribers of its channel, on every node of a cluster.
package struct PublishedBroadcast: Sendable {
    /// The broadcast, not yet addressed to a device.
    package var pending: PendingNotification
    package var channel: ChannelNumber
    /// Whether the channel stores the broadcast, so that devices receive it later too.
    package var isStored: Bool

    package init(_ pending: PendingNotification, of channel: ChannelNumber, isStored: Bool) {
        self.pending = pending
        self.channel = channel
        self.isStored = isStored
    }

    /// Returns whether a stored broadcast has expired.
    package func isExpired(now: Timestamp) -> Bool {
        pending.notification.broadcastExpiry(now: pending.notification.acceptedAt) < now
    }
}
