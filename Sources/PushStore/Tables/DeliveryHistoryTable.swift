// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushCore
internal import PushSQL

/// The delivery histories of devices, one row for each device.
///
/// A row is a byte string that starts with the version. For each notification follow the distance to the previous
/// sequence, the topic, and a byte of marks. The distance and the topic are LEB128 numbers. A damaged row is read up to
/// the first invalid byte.
package final class DeliveryHistoryTable {
    /// Whether a notification was acknowledged, and the outcomes that were reported for it.
    package struct Marks: OptionSet, Sendable {
        package let rawValue: UInt8

        package static let acknowledged = Marks(rawValue: 1 << 0)
        package static let broadcast = Marks(rawValue: 1 << 1)
        static let sentAgain = Marks(rawValue: 1 << 7)
        /// A mask of the marks of all reported outcomes.
        static let outcomes = Marks(rawValue: 0b0111_1100)

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Creates the mark of a reported outcome.
        package init(_ outcome: DeviceAPI.Outcome) {
            switch outcome {
            case .delivered: rawValue = 1 << 2
            case .shown: rawValue = 1 << 3
            case .viewed: rawValue = 1 << 4
            case .closed: rawValue = 1 << 5
            case .suppressed: rawValue = 1 << 6
            }
        }
    }

    /// A notification that was sent to a device.
    package struct Entry: Equatable, Sendable {
        package var sequence: Int64
        package var topic: TopicID
        package var marks: Marks
    }

    private static let version: UInt8 = 1

    private let select: any SQLStatement
    private let upsert: any SQLStatement
    private let delete: any SQLStatement
    private var bytes: [UInt8] = []

    init(_ connection: any SQLDatabase) throws(SQLError) {
        select = try connection.prepare("SELECT entries FROM delivery_histories WHERE device = ?")
        upsert = try connection.prepare(
            """
            INSERT INTO delivery_histories VALUES (?, ?) ON CONFLICT (device) DO UPDATE SET entries = excluded.entries
            """)
        delete = try connection.prepare("DELETE FROM delivery_histories WHERE device = ?")
    }

    /// Reads the entries of a device, ascending.
    func read(of device: DeviceID) throws(SQLError) -> [Entry] {
        select.bind(device.stored, at: 1)
        defer { select.reset() }
        guard try select.step() else { return [] }
        let stored = select.bytes(0)
        return Self.decode(stored.span)
    }

    /// Replaces the entries of a device.
    func write(_ entries: [Entry], of device: DeviceID) throws(SQLError) {
        bytes.removeAll(keepingCapacity: true)
        Self.append(entries, to: &bytes)
        upsert.bind(device.stored, at: 1)
        upsert.bind(bytes, at: 2)
        try upsert.run()
    }

    /// Removes the entries of a device.
    func remove(of device: DeviceID) throws(SQLError) {
        delete.bind(device.stored, at: 1)
        try delete.run()
    }

    // MARK: Bytes

    /// Appends the packed form of entries, which must be ascending.
    static func append(_ entries: [Entry], to bytes: inout [UInt8]) {
        bytes.append(version)
        var last: Int64 = 0
        for entry in entries {
            bytes.append(leb128: UInt64(bitPattern: entry.sequence &- last))
            bytes.append(leb128: UInt64(entry.topic.rawValue))
            bytes.append(entry.marks.rawValue)
            last = entry.sequence
        }
    }

    /// Decodes the packed form, up to the first invalid byte.
    package static func decode(_ bytes: Span<UInt8>) -> [Entry] {
        guard !bytes.isEmpty, bytes[0] == version else { return [] }
        var (entries, offset, last) = ([Entry](), 1, Int64(0))
        while let distance = bytes.leb128(at: &offset), let topic = bytes.leb128(at: &offset), offset < bytes.count {
            guard let step = Int64(exactly: distance), step > 0, let number = UInt32(exactly: topic) else { break }
            let (sequence, isTooLarge) = last.addingReportingOverflow(step)
            guard !isTooLarge else { break }
            entries.append(
                Entry(
                    sequence: sequence, topic: TopicID(rawValue: number),
                    marks: Marks(rawValue: bytes[offset])))
            offset += 1
            last = sequence
        }
        return entries
    }
}

extension [UInt8] {
    fileprivate mutating func append(leb128 number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }
}

extension Span<UInt8> {
    /// Reads an unsigned LEB128 number and moves the offset after it; returns nil at the end, and for a number above 64
    /// bits.
    fileprivate func leb128(at offset: inout Int) -> UInt64? {
        var (number, shift) = (UInt64(0), 0)
        while offset < count, shift < 63 {
            let byte = self[offset]
            offset += 1
            number |= UInt64(byte & 0x7f) << UInt64(shift)
            if byte < 0x80 { return number }
            shift += 7
        }
        return nil
    }
}
