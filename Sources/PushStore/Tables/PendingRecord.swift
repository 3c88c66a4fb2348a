// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// The byte string of a pending notification, with all fields that are not columns of the table.
///
/// ```
/// 0 version   1 push type   2 priority   3 flags   4 generation   8 accepted at   16 expiration   24 unique ID
/// 40 length of apns-id   42 of the topic's name   44 of the collapse ID   46 zero   48 those three, then the payload
/// last 8: checksum over sequence, device, topic and everything before it
/// ```
/// Numbers are little-endian.
///
/// The checksum detects a row that the disk damaged: SQLite detects damage to its own structures but not to the
/// content. It does not protect against forgery.
package enum PendingRecord {
    private static let version: UInt8 = 1
    private static let headByteCount = 48
    private static let checksumByteCount = 8
    private static let hasExpiration: UInt8 = 1
    private static let hasCollapseID: UInt8 = 2

    /// Appends the record of a notification.
    package static func append(_ pending: PendingNotification, to bytes: inout [UInt8]) {
        let notification = pending.notification
        let collapseID = notification.collapseID ?? []
        let present =
            (notification.expiration == nil ? 0 : hasExpiration)
            | (notification.collapseID == nil ? 0 : hasCollapseID)
        let kinds =
            UInt64(version) | UInt64(notification.pushType?.storedNumber ?? 0) << 8
            | UInt64(notification.priority ?? 0) << 16 | UInt64(present) << 24
        let lengths =
            UInt64(notification.apnsID.count) | UInt64(notification.suffixedTopic.utf8.count) << 16
            | UInt64(collapseID.count) << 32
        let start = bytes.count
        bytes.append(word: kinds | UInt64(notification.address.generation) << 32)
        bytes.append(word: UInt64(bitPattern: notification.acceptedAt.unixMilliseconds))
        bytes.append(word: UInt64(bitPattern: notification.expiration?.unixSeconds ?? 0))
        bytes.append(word: notification.uniqueID.high)
        bytes.append(word: notification.uniqueID.low)
        bytes.append(word: lengths)
        bytes.append(contentsOf: notification.apnsID)
        bytes.append(contentsOf: notification.suffixedTopic.utf8)
        bytes.append(contentsOf: collapseID)
        bytes.append(contentsOf: notification.payload)
        let sum = checksum(
            of: bytes.span.extracting(start..<bytes.count), sequence: pending.sequence,
            device: notification.address.device, topic: notification.address.topic)
        bytes.append(word: sum)
    }

    /// Decodes a record; returns nil if it is damaged.
    package static func decode(
        _ bytes: Span<UInt8>, sequence: Int64, device: DeviceID, topic: TopicID
    ) -> PendingNotification? {
        guard bytes.count >= headByteCount + checksumByteCount, bytes[0] == version else { return nil }
        let body = bytes.extracting(first: bytes.count - checksumByteCount)
        let written = bytes.littleEndian(at: body.count, byteCount: checksumByteCount)
        guard written == checksum(of: body, sequence: sequence, device: device, topic: topic) else { return nil }
        var place = headByteCount
        func take(_ count: Int) -> [UInt8]? {
            guard count <= body.count - place else { return nil }
            defer { place += count }
            return body.extracting(place..<place + count).copied
        }
        guard let apnsID = take(Int(body.littleEndian(at: 40, byteCount: 2))),
            let suffixedTopic = take(Int(body.littleEndian(at: 42, byteCount: 2))),
            let collapseID = take(Int(body.littleEndian(at: 44, byteCount: 2))),
            let payload = take(body.count - place)
        else { return nil }
        return PendingNotification(
            sequence: sequence,
            notification: Notification(
                address: DeviceTokenContents(
                    device: device, topic: topic,
                    generation: UInt32(truncatingIfNeeded: body.littleEndian(at: 4, byteCount: 4))),
                apnsID: apnsID,
                uniqueID: UniqueID(
                    high: body.littleEndian(at: 24, byteCount: 8), low: body.littleEndian(at: 32, byteCount: 8)),
                suffixedTopic: String(decoding: suffixedTopic, as: UTF8.self),
                pushType: PushType(storedNumber: body[1]),
                priority: body[2] == 0 ? nil : body[2],
                expiration: body[3] & hasExpiration == 0
                    ? nil : Timestamp(unixSeconds: Int64(bitPattern: body.littleEndian(at: 16, byteCount: 8))),
                collapseID: body[3] & hasCollapseID == 0 ? nil : collapseID, payload: payload,
                acceptedAt: Timestamp(
                    unixMilliseconds: Int64(bitPattern: body.littleEndian(at: 8, byteCount: 8)))))
    }

    /// Returns the acceptance time of a record without verifying the checksum; nil if the record is too short.
    static func acceptedAt(_ bytes: Span<UInt8>) -> Timestamp? {
        guard bytes.count >= headByteCount else { return nil }
        return Timestamp(unixMilliseconds: Int64(bitPattern: bytes.littleEndian(at: 8, byteCount: 8)))
    }

    private static func checksum(
        of bytes: Span<UInt8>, sequence: Int64, device: DeviceID, topic: TopicID
    ) -> UInt64 {
        var checksum = Checksum()
        checksum.add(UInt64(bitPattern: sequence))
        checksum.add(device.rawValue)
        checksum.add(UInt64(topic.rawValue))
        checksum.add(bytes)
        return checksum.value
    }
}

extension PushType {
    /// The push type's number in records, which must never change.
    fileprivate var storedNumber: UInt8 {
        switch self {
        case .alert: 1
        case .background: 2
        case .location: 3
        case .voip: 4
        case .complication: 5
        case .fileprovider: 6
        case .mdm: 7
        case .liveactivity: 8
        case .pushtotalk: 9
        case .widgets: 10
        case .controls: 11
        }
    }

    fileprivate init?(storedNumber: UInt8) {
        guard let type = Self.allCases.first(where: { $0.storedNumber == storedNumber }) else { return nil }
        self = type
    }
}

extension [UInt8] {
    /// Appends eight bytes, little-endian.
    fileprivate mutating func append(word: UInt64) {
        unsafe Swift.withUnsafeBytes(of: word.littleEndian) { buffer in unsafe append(contentsOf: buffer) }
    }
}

extension Span<UInt8> {
    fileprivate func littleEndian(at offset: Int, byteCount: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<byteCount { value |= UInt64(self[offset + index]) << UInt64(index * 8) }
        return value
    }

    fileprivate var copied: [UInt8] {
        unsafe withUnsafeBufferPointer { unsafe [UInt8]($0) }
    }
}
