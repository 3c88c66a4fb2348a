// SPDX-License-Identifier: Apache-2.0

import PushCore
import TestSupport

import PushStore
@testable import PushCluster

extension SeededGenerator {
    /// Returns a message of a random kind.
    mutating func nodeMessage() -> NodeMessage {
        let number = Int64.random(in: .min ... .max, using: &self)
        switch Int.random(in: 0..<12, using: &self) {
        case 0:
            let pushes = (0..<Int.random(in: 0...5, using: &self)).map { _ in push() }
            return .push(number: number, pushes, until: .random(in: .min ... .max, using: &self))
        case 1:
            let results = (0..<Int.random(in: 0...5, using: &self)).map { _ in
                (index: Int.random(in: 0...255, using: &self), result: pushResult())
            }
            return .pushed(number: number, results)
        case 2: return .wake(number: number, devices())
        case 3: return .woken(number: number, devices().map { $0.rawValue & 1 == 0 })
        case 4:
            return .replaced(number: number, device(), epoch: .random(in: 0...NodeMessageLimits.idMax, using: &self))
        case 5: return .changed(number: number, devices())
        case 6: return .control(number: number, version: .random(in: .min ... .max, using: &self))
        case 7: return .broadcast(number: number, broadcast())
        case 8: return .rates((0..<Int.random(in: 0...5, using: &self)).map { _ in use() })
        case 9:
            let presence = NodeMessage.Presence(
                commits: .random(using: &self), controlVersion: .random(in: .min ... .max, using: &self),
                connectionCount: .random(in: .min ... .max, using: &self),
                clockDifferenceMilliseconds: Bool.random(using: &self) ? .random(in: .min ... .max, using: &self) : nil)
            return .here(number: number, presence)
        case 10: return .saving(device(), .random(using: &self))
        default: return .done(number: number)
        }
    }

    private mutating func use() -> SharedQuotaUse {
        let kind = QuotaSubject.Kind.allCases.randomElement(using: &self) ?? .team
        return SharedQuotaUse(
            QuotaSubject(kind, text(countMax: 40)), requestCount: .random(in: 0...1_000_000, using: &self),
            badTokenCount: .random(in: 0...1_000, using: &self), day: .random(in: 0...100_000, using: &self),
            dayCount: .random(in: 0...1 << 40, using: &self))
    }

    private mutating func broadcast() -> PublishedBroadcast {
        let pending = push().pending
        let token = DeviceTokenContents(
            device: DeviceID(rawValue: 0), topic: pending.notification.address.topic,
            generation: pending.notification.address.generation)
        let notification = pending.notification.addressed(to: token)
            .published(in: ChannelID(high: next(), low: next()))
        return PublishedBroadcast(
            PendingNotification(sequence: pending.sequence, notification: notification),
            of: ChannelNumber(rawValue: .random(in: .min ... .max, using: &self)), isStored: .random(using: &self))
    }

    /// Returns a notification with random fields, of which each optional one is missing now and then.
    mutating func push(payloadByteCount: Int? = nil) -> NodeMessage.Push {
        let payload = payloadByteCount.map { [UInt8](repeating: 7, count: $0) } ?? bytes(countMax: 300)
        let notification = Notification(
            address: DeviceTokenContents(
                device: device(), topic: TopicID(rawValue: .random(in: .min ... .max, using: &self)),
                generation: .random(in: .min ... .max, using: &self)),
            apnsID: bytes(countMax: 36), uniqueID: UniqueID(high: next(), low: next()),
            suffixedTopic: text(countMax: 20), pushType: Bool.random(using: &self) ? .voip : nil,
            priority: Bool.random(using: &self) ? 5 : nil,
            expiration: Bool.random(using: &self)
                ? Timestamp(unixSeconds: .random(in: 0...4_000_000_000, using: &self)) : nil,
            collapseID: Bool.random(using: &self) ? bytes(countMax: 64) : nil, payload: payload,
            acceptedAt: Timestamp(unixMilliseconds: .random(in: .min ... .max, using: &self)))
        return NodeMessage.Push(
            pending: PendingNotification(
                sequence: .random(in: 1...NodeMessageLimits.idMax, using: &self), notification: notification),
            key: RowKey(rawValue: .random(in: .min ... .max, using: &self)))
    }

    private mutating func pushResult() -> NodeMessage.PushResult {
        switch Int.random(in: 0..<4, using: &self) {
        case 0: return .accepted
        case 1: return .notHere
        case 2: return .busy
        default:
            let time = Timestamp(unixMilliseconds: .random(in: .min ... .max, using: &self))
            return .refused(
                RejectionReason.allCases.randomElement(using: &self) ?? .unregistered,
                endedAt: Bool.random(using: &self) ? time : nil)
        }
    }

    private mutating func device() -> DeviceID { DeviceID(rawValue: next() >> 1) }

    private mutating func devices() -> [DeviceID] {
        (0..<Int.random(in: 0...20, using: &self)).map { _ in device() }
    }
}

extension NodeMessage {
    /// The complete content as text, by which tests compare messages.
    var content: String {
        switch self {
        case .push(let number, let pushes, let until):
            "push \(number) \(until)" + pushes.map { "\n\($0.key)\($0.pending.content)" }.joined()
        case .broadcast(let number, let broadcast):
            "broadcast \(number) \(broadcast.channel) \(broadcast.isStored)\(broadcast.pending.content)"
        default: "\(self)"
        }
    }
}

extension PendingNotification {
    fileprivate var content: String {
        let fields: [Any?] = [
            sequence, notification.address, notification.apnsID, notification.uniqueID,
            notification.suffixedTopic, notification.pushType, notification.priority, notification.expiration,
            notification.collapseID, notification.payload, notification.acceptedAt, notification.channel,
        ]
        return fields.map { "\n\(String(describing: $0))" }.joined()
    }
}
