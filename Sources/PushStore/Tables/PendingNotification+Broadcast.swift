// SPDX-License-Identifier: Apache-2.0

package import PushCore
internal import PushSQL

extension PendingNotification {
    /// Reads a row that `BroadcastTable` selected; the result equals that of `init(_:sequence:)`.
    init(broadcastRow row: any SQLStatement) {
        let uniqueID = UniqueID(high: UInt64(bitPattern: row.int64(6)), low: UInt64(bitPattern: row.int64(7)))
        self.init(
            sequence: row.int64(0),
            notification: Notification(
                address: .ofNoDevice(TopicID(stored: row.int64(3))), apnsID: row.bytes(8), uniqueID: uniqueID,
                suffixedTopic: row.string(9), pushType: .liveactivity,
                priority: row.optionalInt64(10).map(UInt8.init(truncatingIfNeeded:)),
                expiration: Timestamp(unixSeconds: row.int64(11)), collapseID: nil, payload: row.bytes(12),
                acceptedAt: Timestamp(unixMilliseconds: row.int64(5)), channel: ChannelID(row.bytes(1))))
    }

    /// Creates the notification of a broadcast, which is not addressed to a device yet.
    init(_ broadcast: Broadcast, sequence: Int64) {
        self.init(
            sequence: sequence,
            notification: Notification(
                address: .ofNoDevice(broadcast.topic), apnsID: broadcast.requestID, uniqueID: broadcast.uniqueID,
                suffixedTopic: broadcast.suffixedTopic, pushType: .liveactivity, priority: broadcast.priority,
                expiration: broadcast.expiration, collapseID: nil, payload: broadcast.payload,
                acceptedAt: broadcast.acceptedAt, channel: broadcast.channel))
    }

    /// Returns the stored broadcast, addressed to one of its subscribers.
    package func addressed(to token: DeviceTokenContents) -> PendingNotification {
        PendingNotification(sequence: sequence, notification: notification.addressed(to: token))
    }

    /// A checksum of all fields that a device receives or that identify the row, to detect a damaged row.
    ///
    /// SQLite detects damage to its own structures but not to the content. The checksum does not protect against
    /// forgery.
    var checksum: Int64 {
        var checksum = Checksum()
        checksum.add(UInt64(bitPattern: sequence))
        checksum.add(notification.address.device.rawValue)
        checksum.add(UInt64(notification.address.topic.rawValue) << 32 | UInt64(notification.address.generation))
        checksum.add(notification.uniqueID.high)
        checksum.add(notification.uniqueID.low)
        checksum.add(UInt64(bitPattern: notification.acceptedAt.unixMilliseconds))
        checksum.add(UInt64(bitPattern: notification.expiration?.unixSeconds ?? -1))
        checksum.add(UInt64(notification.priority ?? 0))
        let (apnsID, payload, suffixedTopic) = (notification.apnsID, notification.payload, notification.suffixedTopic)
        checksum.add(apnsID.span)
        checksum.add(suffixedTopic.utf8.span)
        let (pushType, collapseID) = (notification.pushType?.rawValue ?? "", notification.collapseID ?? [])
        checksum.add(pushType.utf8.span)
        checksum.add(collapseID.span)
        checksum.add(payload.span)
        if let channel = notification.channel {
            checksum.add(channel.high)
            checksum.add(channel.low)
        }
        return Int64(bitPattern: checksum.value)
    }
}

extension DeviceTokenContents {
    /// Returns the placeholder address of a broadcast that is not addressed to a subscriber yet.
    fileprivate static func ofNoDevice(_ topic: TopicID) -> DeviceTokenContents {
        DeviceTokenContents(device: DeviceID(rawValue: 0), topic: topic, generation: 0)
    }
}
