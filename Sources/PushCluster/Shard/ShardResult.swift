// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushStore

/// The results of a `ShardBatch`; each array has an element for each element of the batch.
package struct ShardResult: Sendable {
    /// The row of a device in `hosts`.
    package struct Host: Hashable, Sendable {
        /// The instance that has the device's stream; 0 after the stream ended.
        package var instance: InstanceID
        package var epoch: Int64
        /// Whether the last heartbeat of the instance was less than three seconds old.
        ///
        /// Any other instance reads what waits before it delivers anything, so nobody needs to wake it.
        package var isLive: Bool

        package init(instance: InstanceID, epoch: Int64, isLive: Bool) {
            self.instance = instance
            self.epoch = epoch
            self.isLive = isLive
        }

        /// Returns whether this is the same stream.
        func isSameStream(as other: Host?) -> Bool { other?.instance == instance && other?.epoch == epoch }
    }

    /// The result of an attachment.
    package enum Attachment: Sendable {
        /// No live device has the secret.
        case unauthorized
        /// The device has moved to another shard, but this node knows only the earlier assignment.
        case elsewhere
        /// The stream is registered; the earlier host is nil for the device's first stream.
        case attached(earlier: Host?)
        /// A later stream of the device is registered.
        case replaced(by: Host)
    }

    /// A row of the table `pending`.
    package struct Row: Sendable {
        package var key: RowKey
        package var id: Int64
        package var topic: TopicID
        package var expiresAt: Timestamp?
        /// The notification; nil if its checksum is wrong.
        package var notification: Notification?
    }

    /// The result of a reading.
    package struct Reading: Sendable {
        package var rows: [Row]
        /// Whether more rows are left.
        package var isMore: Bool
        /// The registrations and subscriptions; nil unless they were asked for.
        package var account: Account?
    }

    /// The subscription of a device to a channel.
    package struct Subscription: Sendable {
        package var channel: ChannelNumber
        /// The registration that receives the broadcasts.
        package var token: DeviceTokenContents
        /// The number up to which the device has received or skipped the channel's broadcasts.
        package var since: Int64
    }

    /// The registrations and subscriptions of a device.
    package struct Account: Sendable {
        package var registrations: [(topic: TopicID, row: RegistrationState)] = []
        package var subscriptions: [Subscription] = []
        /// The notifications that were sent to the device.
        package var history: [DeliveryHistory.Entry] = []
    }

    /// A row with the key of a notification that is written, as it was before.
    package struct Replaced: Sendable {
        package var device: DeviceID
        package var key: RowKey
        package var id: Int64
        package var topic: TopicID
    }

    /// The result of writing a notification.
    package enum Write: Sendable {
        case written
        /// The device refuses the topic.
        case dropped
        /// The registration is unknown or has ended.
        case refused(RejectionReason, endedAt: Timestamp?)
        /// PostgreSQL did not write it, for example because its disk is full, or because the device has moved.
        case failed
    }

    /// The answer to a heartbeat.
    package struct Heartbeat: Sendable {
        /// Whether the table `nodes` no longer has the instance, because the node was started again or was removed.
        package var isTaken: Bool
        /// The shard's UNIX time in microseconds before it read `changes`.
        package var time: Int64
        /// The version of the control data.
        package var controlVersion: Int64
        /// The rows of `changes` that the heartbeat asked for.
        package var changes: [Change]
        /// The last instance of each node.
        package var nodes: [Node]
        /// The numbers of the broadcasts that were stored lately.
        package var broadcasts: [Int64] = []
        /// The first transaction that had not ended before the shard read `changes`.
        package var leastUnendedTransaction: Int64 = 0
    }

    /// A row of the table `changes`.
    package struct Change: Sendable {
        package var position: Int64
        package var device: DeviceID
    }

    /// A row of the table `nodes`.
    package struct Node: Sendable {
        package var instance: InstanceID
        /// Whether its last heartbeat is less than three seconds old.
        package var isLive: Bool
        /// The first transaction of whose rows in `changes` the node need not have heard.
        package var heardTransaction: Int64
        /// A number above all that the node had made at its last heartbeat; 0 if it is not known.
        package var idCeiling: Int64 = 0
        /// The address at which other nodes connect; nil without links.
        package var address: String?
        package var name = ""
        /// The version of posthornd.
        package var version = ""
        package var draining = Draining.no
        /// The time since the last heartbeat.
        package var heartbeatAgeMilliseconds: Int64 = 0
    }

    package var attachments: [Attachment] = []
    package var readings: [Reading] = []
    package var writes: [Write] = []
    /// The rows with the keys of `writes`, before these; empty unless the batch asks for them.
    package var replaced: [Replaced] = []
    /// The transaction that inserted the devices into `changes`; nil without any.
    package var announcement: Int64?
    package var heartbeat: Heartbeat?
    package var looks: [Host?] = []
    /// The shard's time in microseconds at which the hosts were looked up; nil without lookups.
    package var lookedAt: Int64?

    package init() {}
}
