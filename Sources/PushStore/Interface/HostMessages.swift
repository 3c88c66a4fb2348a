// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// A message from a host to the store.
package enum HostCommand: Sendable {
    /// Stores a notification that its device did not acknowledge within the grace; answered by `accepted` or `refused`.
    case store(PendingNotification, answer: ReplyAddress)
    /// Returns a queue, with its notifications in flight.
    ///
    /// The number is that of the last broadcast that the host has delivered to its subscribers.
    case returned(HeldQueue, broadcast: Int)
    /// Reports that a broadcast was delivered to the subscribers that the loop hosts.
    case delivered(broadcast: Int, host: UInt32)
    /// Wakes the store, because records wait in the host's journal.
    case wake
}

/// A message from the store, or from another loop, to a host.
package enum HostReply: Sendable {
    /// Hands a queue over.
    case handed(HeldQueue)
    /// Passes on a notification for a device that the loop hosts, or hosted a moment ago.
    case offered(Notification, answer: ReplyAddress)
    /// Delivers a broadcast to the subscribers that the loop hosts.
    case broadcast(HostBroadcast)
    /// Passes an answer on through the hosts of other loops, so that each has delivered what was sent to it before.
    case relayed(StoreAnswer, answer: ReplyAddress, via: ArraySlice<UInt32>)
    /// Takes a queue back; answered by `returned` unless the host has returned it already.
    case recalled(DeviceID)
}

/// An accepted broadcast for the subscribers that a loop hosts.
package struct HostBroadcast: Sendable {
    /// The number of the broadcast among those that the store sent to the loop, from 1.
    var number: Int
    /// The broadcast, which is not addressed to a device.
    var pending: PendingNotification
    var channel: ChannelNumber
    /// Whether the channel stores the broadcast; otherwise it is delivered now or never.
    var isStored: Bool
}
