// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

/// Encodes messages for one node into packets, each of which is a WebSocket message.
///
/// ```
/// packet        0 version   1 instance of the sender   9 messages
/// message       0 kind   1 number   9 content
/// push          until   count (2)   for each: device   topic (4)   number   key   length (4)   PendingRecord
/// pushed        count (2)   for each: index (2)   result (1); if refused: length (1)   reason   flag (1)   end
/// wake, changed count (4)   devices
/// woken         count (4)   flags (1 each)
/// replaced      device   epoch
/// control       version
/// broadcast     topic (4)   channel   channel ID (16)   flag (1): stored   id   length (4)   PendingRecord
/// rates         count (2)   for each: kind (1)   length (2)   name   requests (4)   bad tokens (4)   day   day's count
/// saving        device   flag (1)
/// done          -
/// here          flags (1): commits, clock known   control version   connections (4)   clock difference
/// ```
/// Numbers are little-endian, with eight bytes unless another length is given. `PendingRecord` has a checksum, and does
/// not contain the channel of a broadcast, so its message names that.
package struct NodeMessageEncoder {
    static let version: UInt8 = 1
    static let headByteCount = 9

    private let head: [UInt8]
    private var complete: [[UInt8]] = []
    private var packet: [UInt8] = []

    /// Creates an encoder without messages.
    ///
    /// - Parameter sender: The instance of this node.
    package init(sender: InstanceID) {
        head = Self.greeting(from: sender)
    }

    /// Returns a packet without messages, by which a node tells its instance.
    static func greeting(from sender: InstanceID) -> [UInt8] {
        var head = [version]
        head.append(number: sender.rawValue)
        return head
    }

    /// Appends a message; leaves out one that exceeds the bounds, as if it were lost.
    package mutating func append(_ message: NodeMessage) {
        guard message.isWithinLimits else { return }
        var bytes: [UInt8] = []
        bytes.append(message)
        guard head.count + bytes.count <= NodeMessageLimits.packetByteCountMax else { return }
        if packet.isEmpty {
            packet = head
        } else if packet.count + bytes.count > NodeMessageLimits.packetByteCountMax {
            complete.append(packet)
            packet = head
        }
        packet.append(contentsOf: bytes)
    }

    /// Returns the packets with all messages, in order, and removes them.
    package mutating func takePackets() -> [[UInt8]] {
        defer { (complete, packet) = ([], []) }
        return packet.isEmpty ? complete : complete + [packet]
    }
}

extension NodeMessage {
    /// The first byte of a message, which must never change.
    enum Kind: UInt8 {
        case push = 1
        case pushed = 2
        case wake = 3
        case woken = 4
        case replaced = 5
        case changed = 6
        case control = 7
        case done = 8
        case broadcast = 9
        case rates = 10
        case saving = 11
        case here = 20
    }

    /// The byte of an answer to a pushed notification, which must never change.
    enum ResultKind: UInt8 {
        case accepted = 0
        case notHere = 1
        case refused = 2
        case busy = 3
    }

    /// Whether the message keeps the bounds.
    fileprivate var isWithinLimits: Bool {
        switch self {
        case .push(_, let pushes, _):
            pushes.count <= NodeMessageLimits.notificationCountMax
                && pushes.reduce(0) { $0 + $1.pending.notification.payload.count }
                    <= NodeMessageLimits.payloadByteCountMax
        case .pushed(_, let results):
            results.count <= NodeMessageLimits.notificationCountMax
                && results.allSatisfy { (0..<NodeMessageLimits.notificationCountMax).contains($0.index) }
        case .wake(_, let devices), .changed(_, let devices): devices.count <= NodeMessageLimits.deviceCountMax
        case .woken(_, let here): here.count <= NodeMessageLimits.deviceCountMax
        case .broadcast(_, let broadcast):
            broadcast.pending.notification.payload.count <= NodeMessageLimits.payloadByteCountMax
        case .rates(let uses):
            uses.count <= NodeMessageLimits.subjectCountMax
                && uses.allSatisfy { $0.subject.name.utf8.count <= NodeMessageLimits.subjectByteCountMax }
        case .replaced, .control, .saving, .done, .here: true
        }
    }
}

extension QuotaSubject.Kind {
    /// The byte of the kind, which must never change.
    var number: UInt8 {
        switch self {
        case .team: 0
        case .key: 1
        case .topic: 2
        }
    }
}

extension [UInt8] {
    /// Appends a message with its kind and number.
    fileprivate mutating func append(_ message: NodeMessage) {
        switch message {
        case .push(let number, let pushes, let until):
            begin(.push, number)
            append(number: until)
            append(number: UInt16(pushes.count))
            for push in pushes { append(push) }
        case .pushed(let number, let results):
            begin(.pushed, number)
            append(number: UInt16(results.count))
            for (index, result) in results {
                append(number: UInt16(index))
                append(result)
            }
        case .wake(let number, let devices):
            begin(.wake, number)
            append(devices)
        case .woken(let number, let here):
            begin(.woken, number)
            append(number: UInt32(here.count))
            append(contentsOf: here.map { $0 ? 1 : 0 })
        case .replaced(let number, let device, let epoch):
            begin(.replaced, number)
            append(number: device.rawValue)
            append(number: epoch)
        case .changed(let number, let devices):
            begin(.changed, number)
            append(devices)
        case .control(let number, let version):
            begin(.control, number)
            append(number: version)
        case .broadcast(let number, let broadcast):
            begin(.broadcast, number)
            append(broadcast)
        case .rates(let uses):
            begin(.rates, 0)
            append(number: UInt16(uses.count))
            for use in uses { append(use) }
        case .saving(let device, let isSaving):
            begin(.saving, 0)
            append(number: device.rawValue)
            append(isSaving ? 1 : 0)
        case .done(let number): begin(.done, number)
        case .here(let number, let presence):
            begin(.here, number)
            append((presence.commits ? 1 : 0) | (presence.clockDifferenceMilliseconds == nil ? 0 : 2))
            append(number: presence.controlVersion)
            append(number: presence.connectionCount)
            append(number: presence.clockDifferenceMilliseconds ?? 0)
        }
    }

    private mutating func begin(_ kind: NodeMessage.Kind, _ number: Int64) {
        append(kind.rawValue)
        append(number: number)
    }

    private mutating func append(_ push: NodeMessage.Push) {
        let address = push.pending.notification.address
        append(number: address.device.rawValue)
        append(number: address.topic.rawValue)
        append(number: push.pending.sequence)
        append(number: push.key.rawValue)
        append(recordOf: push.pending)
    }

    private mutating func append(_ broadcast: PublishedBroadcast) {
        let notification = broadcast.pending.notification
        append(number: notification.address.topic.rawValue)
        append(number: broadcast.channel.rawValue)
        append(number: notification.channel?.high ?? 0)
        append(number: notification.channel?.low ?? 0)
        append(broadcast.isStored ? 1 : 0)
        append(number: broadcast.pending.sequence)
        append(recordOf: broadcast.pending)
    }

    private mutating func append(_ use: SharedQuotaUse) {
        append(use.subject.kind.number)
        append(number: UInt16(use.subject.name.utf8.count))
        append(contentsOf: use.subject.name.utf8)
        append(number: UInt32(clamping: use.requestCount))
        append(number: UInt32(clamping: use.badTokenCount))
        append(number: use.day)
        append(number: use.dayCount)
    }

    private mutating func append(recordOf pending: PendingNotification) {
        var record: [UInt8] = []
        PendingRecord.append(pending, to: &record)
        append(number: UInt32(record.count))
        append(contentsOf: record)
    }

    private mutating func append(_ result: NodeMessage.PushResult) {
        switch result {
        case .accepted: append(NodeMessage.ResultKind.accepted.rawValue)
        case .notHere: append(NodeMessage.ResultKind.notHere.rawValue)
        case .busy: append(NodeMessage.ResultKind.busy.rawValue)
        case .refused(let reason, let endedAt):
            append(NodeMessage.ResultKind.refused.rawValue)
            append(UInt8(reason.rawValue.utf8.count))
            append(contentsOf: reason.rawValue.utf8)
            append(endedAt == nil ? 0 : 1)
            if let endedAt { append(number: endedAt.unixMilliseconds) }
        }
    }

    private mutating func append(_ devices: [DeviceID]) {
        append(number: UInt32(devices.count))
        for device in devices { append(number: device.rawValue) }
    }

    /// Appends a number, little-endian.
    fileprivate mutating func append(number: some FixedWidthInteger) {
        unsafe Swift.withUnsafeBytes(of: number.littleEndian) { buffer in unsafe append(contentsOf: buffer) }
    }
}
