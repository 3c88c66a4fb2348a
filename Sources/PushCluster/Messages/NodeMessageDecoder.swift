// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

/// Decodes the packets that `NodeMessageEncoder` makes.
///
/// A packet that exceeds a bound, ends early or has anything unknown is dropped as a whole, as if it were lost.
package enum NodeMessageDecoder {
    /// Returns the instance that sent a packet; nil for another version, or if the packet is too short.
    package static func sender(of packet: [UInt8]) -> InstanceID? {
        var reader = PacketReader(packet)
        return reader.sender()
    }

    /// Decodes a packet.
    ///
    /// - Parameter packet: A WebSocket message, with any content.
    /// - Returns: The instance that sent it, and its messages in order; nil if it is invalid.
    package static func decode(_ packet: [UInt8]) -> (sender: InstanceID, messages: [NodeMessage])? {
        var reader = PacketReader(packet)
        guard packet.count <= NodeMessageLimits.packetByteCountMax, let sender = reader.sender() else { return nil }
        var messages: [NodeMessage] = []
        while !reader.isAtEnd {
            guard let message = reader.message() else { return nil }
            messages.append(message)
        }
        return (sender, messages)
    }
}

/// The position in a packet; each method reads what follows, and returns nil if that is invalid.
private struct PacketReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func sender() -> InstanceID? {
        guard number(UInt8.self) == NodeMessageEncoder.version, let instance = number(Int64.self) else { return nil }
        return InstanceID(rawValue: instance)
    }

    mutating func message() -> NodeMessage? {
        guard let kind = number(UInt8.self).flatMap(NodeMessage.Kind.init), let number = number(Int64.self) else {
            return nil
        }
        switch kind {
        case .push:
            guard let until = self.number(Int64.self), let pushes = pushes() else { return nil }
            return .push(number: number, pushes, until: until)
        case .pushed: return results().map { .pushed(number: number, $0) }
        case .wake: return devices().map { .wake(number: number, $0) }
        case .woken: return flags().map { .woken(number: number, $0) }
        case .replaced:
            guard let device = device(), let epoch = id() else { return nil }
            return .replaced(number: number, device, epoch: epoch)
        case .changed: return devices().map { .changed(number: number, $0) }
        case .control: return self.number(Int64.self).map { .control(number: number, version: $0) }
        case .broadcast: return broadcast().map { .broadcast(number: number, $0) }
        case .rates: return uses().map { .rates($0) }
        case .saving:
            guard let device = device(), let isSaving = flag() else { return nil }
            return .saving(device, isSaving)
        case .done: return .done(number: number)
        case .here: return presence().map { .here(number: number, $0) }
        }
    }

    // MARK: Contents

    private mutating func pushes() -> [NodeMessage.Push]? {
        guard let count = number(UInt16.self), count <= NodeMessageLimits.notificationCountMax else { return nil }
        var pushes: [NodeMessage.Push] = []
        var payloadByteCount = 0
        for _ in 0..<count {
            guard let push = push() else { return nil }
            payloadByteCount += push.pending.notification.payload.count
            guard payloadByteCount <= NodeMessageLimits.payloadByteCountMax else { return nil }
            pushes.append(push)
        }
        return pushes
    }

    private mutating func push() -> NodeMessage.Push? {
        guard let device = device(), let topic = number(UInt32.self), let id = id(), id > 0,
            let key = number(Int64.self), let record = number(UInt32.self).flatMap({ range(Int($0)) })
        else { return nil }
        let pending = PendingRecord.decode(
            bytes.span.extracting(record), sequence: id, device: device, topic: TopicID(rawValue: topic))
        return pending.map { NodeMessage.Push(pending: $0, key: RowKey(rawValue: key)) }
    }

    private mutating func broadcast() -> PublishedBroadcast? {
        guard let topic = number(UInt32.self), let channel = number(Int64.self), let high = number(UInt64.self),
            let low = number(UInt64.self), let isStored = flag(), let id = id(), id > 0,
            let record = number(UInt32.self).flatMap({ range(Int($0)) })
        else { return nil }
        let pending = PendingRecord.decode(
            bytes.span.extracting(record), sequence: id, device: DeviceID(rawValue: 0), topic: TopicID(rawValue: topic))
        guard let pending else { return nil }
        let notification = pending.notification.published(in: ChannelID(high: high, low: low))
        return PublishedBroadcast(
            PendingNotification(sequence: id, notification: notification), of: ChannelNumber(rawValue: channel),
            isStored: isStored)
    }

    private mutating func uses() -> [SharedQuotaUse]? {
        guard let count = number(UInt16.self), count <= NodeMessageLimits.subjectCountMax else { return nil }
        var uses: [SharedQuotaUse] = []
        for _ in 0..<count {
            guard let use = use() else { return nil }
            uses.append(use)
        }
        return uses
    }

    private mutating func use() -> SharedQuotaUse? {
        guard let number = number(UInt8.self),
            let kind = QuotaSubject.Kind.allCases.first(where: { $0.number == number }),
            let length = self.number(UInt16.self), length <= NodeMessageLimits.subjectByteCountMax,
            let name = range(Int(length)).map({ String(decoding: bytes[$0], as: UTF8.self) }),
            let requestCount = self.number(UInt32.self), let badTokenCount = self.number(UInt32.self),
            let day = self.number(Int64.self), let dayCount = self.number(Int64.self), dayCount >= 0
        else { return nil }
        return SharedQuotaUse(
            QuotaSubject(kind, name), requestCount: Int64(requestCount), badTokenCount: Int64(badTokenCount), day: day,
            dayCount: dayCount)
    }

    private mutating func results() -> [(index: Int, result: NodeMessage.PushResult)]? {
        guard let count = number(UInt16.self), count <= NodeMessageLimits.notificationCountMax else { return nil }
        var results: [(index: Int, result: NodeMessage.PushResult)] = []
        for _ in 0..<count {
            guard let index = number(UInt16.self), index < NodeMessageLimits.notificationCountMax,
                let result = result()
            else { return nil }
            results.append((Int(index), result))
        }
        return results
    }

    private mutating func result() -> NodeMessage.PushResult? {
        switch number(UInt8.self).flatMap(NodeMessage.ResultKind.init) {
        case .accepted: return .accepted
        case .notHere: return .notHere
        case .busy: return .busy
        case .refused:
            guard let name = number(UInt8.self).flatMap({ range(Int($0)) }),
                let reason = RejectionReason(rawValue: String(decoding: bytes[name], as: UTF8.self)),
                let hasEnd = flag()
            else { return nil }
            guard hasEnd else { return .refused(reason, endedAt: nil) }
            return number(Int64.self).map { .refused(reason, endedAt: Timestamp(unixMilliseconds: $0)) }
        case nil: return nil
        }
    }

    private mutating func presence() -> NodeMessage.Presence? {
        guard let flags = number(UInt8.self), flags < 4, let controlVersion = number(Int64.self),
            let connectionCount = number(UInt32.self), let difference = number(Int64.self)
        else { return nil }
        return NodeMessage.Presence(
            commits: flags & 1 != 0, controlVersion: controlVersion, connectionCount: connectionCount,
            clockDifferenceMilliseconds: flags & 2 != 0 ? difference : nil)
    }

    private mutating func devices() -> [DeviceID]? {
        guard let count = count(elementByteCount: 8) else { return nil }
        var devices: [DeviceID] = []
        devices.reserveCapacity(count)
        for _ in 0..<count {
            guard let device = device() else { return nil }
            devices.append(device)
        }
        return devices
    }

    private mutating func flags() -> [Bool]? {
        guard let count = count(elementByteCount: 1) else { return nil }
        var flags: [Bool] = []
        flags.reserveCapacity(count)
        for _ in 0..<count {
            guard let flag = flag() else { return nil }
            flags.append(flag)
        }
        return flags
    }

    // MARK: Elements

    /// Reads a device ID, whose top bit is clear.
    private mutating func device() -> DeviceID? {
        guard let number = number(UInt64.self), number <= UInt64(Int64.max) else { return nil }
        return DeviceID(rawValue: number)
    }

    /// Reads a number that a node has made.
    private mutating func id() -> Int64? {
        number(Int64.self).flatMap { (0...NodeMessageLimits.idMax).contains($0) ? $0 : nil }
    }

    private mutating func flag() -> Bool? {
        switch number(UInt8.self) {
        case 0: false
        case 1: true
        default: nil
        }
    }

    /// Reads a number of elements, which must be present.
    private mutating func count(elementByteCount: Int) -> Int? {
        guard let count = number(UInt32.self), count <= NodeMessageLimits.deviceCountMax,
            Int(count) * elementByteCount <= bytes.count - offset
        else { return nil }
        return Int(count)
    }

    /// Reads a number, little-endian.
    private mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        guard let range = range(Number.bitWidth / 8) else { return nil }
        var number: UInt64 = 0
        for index in range.reversed() { number = number << 8 | UInt64(bytes[index]) }
        return Number(truncatingIfNeeded: number)
    }

    /// Skips some bytes; returns their range.
    private mutating func range(_ byteCount: Int) -> Range<Int>? {
        guard byteCount <= bytes.count - offset else { return nil }
        defer { offset += byteCount }
        return offset..<offset + byteCount
    }
}
