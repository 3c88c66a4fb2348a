// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// A message from a host to the store.
package enum HostCommand: Sendable {
    /// Stores a notification that its device did not acknowledge within the grace; answered by `accepted` or `refused`.
    case store(PendingNotification, answer: ReplyAddress)
    /// Gives a queue back, with what is in flight.
    case returned(HeldQueue)
    /// Wakes the store, because records wait in the host's journal.
    case wake
}

/// A message from the store, or from another loop, to a host.
package enum HostReply: Sendable {
    /// Hands a queue over; nothing is in flight.
    case handed(HeldQueue)
    /// Passes on a notification for a device that the loop hosts, or hosted a moment ago.
    case offered(Notification, answer: ReplyAddress)
    /// Passes an answer on through the hosts of other loops, so that each has delivered what was sent to it before.
    case relayed(StoreAnswer, answer: ReplyAddress, via: ArraySlice<UInt32>)
    /// Takes a queue back; answered by `returned` unless the host has returned it already.
    case recalled(DeviceID)
}
