// SPDX-License-Identifier: Apache-2.0

import PushCore

import PushStore
@testable import PushCluster

/// Properties of messages between nodes that hold for any bytes; the fuzzer and ordinary tests use them.
enum NodeMessageFuzzCheck {
    /// Decodes a packet, encodes the result and decodes that.
    ///
    /// - Parameter input: A packet with any content.
    /// - Returns: The violated property; nil if all hold.
    static func packet(_ input: [UInt8]) -> String? {
        if let failure = record(of: input) { return failure }
        let sender = NodeMessageDecoder.sender(of: input)
        guard let decoded = NodeMessageDecoder.decode(input) else { return nil }
        guard decoded.sender == sender else { return "two senders" }
        let packets = encode(decoded.messages, by: decoded.sender)
        var again: [NodeMessage] = []
        for packet in packets {
            guard let part = NodeMessageDecoder.decode(packet), part.sender == sender else {
                return "an encoded packet is invalid"
            }
            again += part.messages
        }
        guard again.count == decoded.messages.count else { return "a message was lost" }
        return encode(again, by: decoded.sender) == packets ? nil : "a message changed"
    }

    /// Encodes a notification whose fields are parts of the input, and decodes it: random bytes never have a checksum.
    private static func record(of input: [UInt8]) -> String? {
        guard input.count >= 4 else { return nil }
        let lengths = input.prefix(3).map(Int.init)
        var rest = input.dropFirst(3)
        func take(_ count: Int) -> [UInt8] {
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        let notification = Notification(
            address: DeviceTokenContents(
                device: DeviceID(rawValue: UInt64(lengths[0])), topic: TopicID(rawValue: UInt32(lengths[1])),
                generation: UInt32(lengths[2])),
            apnsID: take(lengths[0]), uniqueID: UniqueID(high: 1, low: 2),
            suffixedTopic: String(decoding: take(lengths[1]), as: UTF8.self), pushType: nil,
            priority: lengths[0] == 0 ? nil : UInt8(lengths[0]), expiration: nil, collapseID: take(lengths[2]),
            payload: take(input.count), acceptedAt: Timestamp(unixMilliseconds: Int64(lengths[2])))
        let pending = PendingNotification(sequence: Int64(input.count), notification: notification)
        let push = NodeMessage.Push(pending: pending, key: RowKey(rawValue: Int64(input.count)))
        let packets = encode([.push(number: 1, [push], until: 2)], by: InstanceID(rawValue: 1))
        guard packets.count == 1, case .push(_, let pushes, _)? = NodeMessageDecoder.decode(packets[0])?.messages.first,
            let other = pushes.first?.pending.notification
        else { return "a notification was lost" }
        let isSame =
            other.apnsID == notification.apnsID && other.payload == notification.payload
            && other.suffixedTopic.utf8.elementsEqual(notification.suffixedTopic.utf8)
            && other.collapseID == notification.collapseID && other.priority == notification.priority
        return isSame ? nil : "a notification changed"
    }

    private static func encode(_ messages: [NodeMessage], by sender: InstanceID) -> [[UInt8]] {
        var encoder = NodeMessageEncoder(sender: sender)
        for message in messages { encoder.append(message) }
        return encoder.takePackets()
    }
}
