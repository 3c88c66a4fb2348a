// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushStore

/// A message from one node to another.
///
/// A message may be lost, delayed or doubled: that costs time, never a notification. A number connects a question with
/// its answer.
package enum NodeMessage: Sendable {
    /// A notification for a device that the receiver probably hosts.
    package struct Push: Sendable {
        package var pending: PendingNotification
        package var key: RowKey
    }

    /// The end of a pushed notification.
    package enum PushResult: Sendable, Equatable {
        /// The notification is acknowledged, written, or needs no storage.
        case accepted
        /// The device has no stream on this node.
        case notHere
        case refused(RejectionReason, endedAt: Timestamp?)
        /// The host gave up, or has too much to do.
        case busy
    }

    /// The state of a node, which it tells all others.
    package struct Presence: Sendable {
        /// Whether the node has the leases of all shards, so that it can serve its devices.
        package var commits: Bool
        /// The version of the control data that the node uses.
        package var controlVersion: Int64
        /// The number of devices whose streams are on the node.
        package var connectionCount: UInt32
        /// The time by which the node's clock is ahead of PostgreSQL's; nil if it is not known.
        package var clockDifferenceMilliseconds: Int64?
    }

    /// Delivers notifications; each is answered by one `pushed`.
    ///
    /// The sender writes those that are not answered until a UNIX time in microseconds of the shard's clock. After that
    /// time, the host must not write them: they may have been acknowledged and replaced meanwhile.
    case push(number: Int64, [Push], until: Int64)
    /// Answers notifications of a `push`, by their index in it.
    case pushed(number: Int64, [(index: Int, result: PushResult)])
    /// Names devices that have new rows; answered by `woken`.
    case wake(number: Int64, [DeviceID])
    /// Tells for each device of a `wake` whether its stream is here, and will read.
    case woken(number: Int64, [Bool])
    /// Names a device with a later stream elsewhere; answered by `done`.
    case replaced(number: Int64, DeviceID, epoch: Int64)
    /// Names devices whose registrations, filter or subscriptions changed; answered by `done`, after which nothing that
    /// the change forbids is delivered.
    case changed(number: Int64, [DeviceID])
    /// Announces a version of the control data; answered by `done` when the node uses it.
    case control(number: Int64, version: Int64)
    /// Delivers a broadcast to the receiver's subscribers; answered by `done` after that.
    case broadcast(number: Int64, PublishedBroadcast)
    /// Names the use of quotas since the last such message.
    case rates([SharedQuotaUse])
    /// Tells the host of a device whether the device saves power; not answered.
    case saving(DeviceID, Bool)
    case done(number: Int64)
    /// Tells the state of the node; not answered, so its number has no meaning.
    case here(number: Int64, Presence)
}
