// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The notifications that wait, as rows of the other engine; a row whose checksum is wrong is left out.
struct MovedNotifications {
    /// The number of rows with a wrong checksum.
    private(set) var damagedCount = 0
    /// The greatest number of a row.
    private(set) var last: Int64 = 0

    /// Converts a row of `MovedTable.pendingToPostgres`; the number becomes the ID.
    ///
    /// In PostgreSQL each row has an expiry, because its ID does not tell when SQLite accepted it.
    ///
    /// The checksum of a record covers the number, the device and the topic, which all stay.
    ///
    /// - Parameter row: The row.
    /// - Returns: The row with its key; nil if the row is damaged.
    mutating func toPostgres(_ row: [SQLValue]) -> [SQLValue]? {
        guard let device = row[0].number, let sequence = row[2].number, let topic = row[3].number,
            let pending = decode(row[5], sequence: sequence, device: device, topic: topic)
        else { return nil }
        last = max(last, sequence)
        var row = row
        row[1] = .number(RowKey(of: pending.notification, id: sequence).rawValue)
        if row[4].number == nil {
            let notification = pending.notification
            row[4] = .number(notification.deletionTime(now: notification.acceptedAt).unixMilliseconds)
        }
        return row
    }

    /// Converts a row of `MovedTable.pendingToSQLite`, in ascending order of IDs; the ID becomes the number.
    ///
    /// A number is assigned once. Two IDs are the same if a node raised one of them above another node's; the later row
    /// then gets the next number, and its device receives it again.
    ///
    /// - Parameter row: The row.
    /// - Returns: The new row; nil if the row is damaged, or its registration ended.
    mutating func toSQLite(_ row: [SQLValue]) -> [SQLValue]? {
        guard let id = row[0].number, let device = row[1].number, let topic = row[2].number,
            let pending = decode(row[4], sequence: id, device: device, topic: topic),
            Int64(pending.notification.address.generation) == row[5].number
        else { return nil }
        let sequence = max(id, last + 1)
        last = sequence
        var record = row[4]
        if sequence != id {
            var bytes: [UInt8] = []
            PendingRecord.append(
                PendingNotification(sequence: sequence, notification: pending.notification), to: &bytes)
            record = .bytes(bytes)
        }
        let collapse = CollapseHash(pending.notification.collapseID).stored
        return [.number(sequence), row[1], row[2], collapse.map(SQLValue.number) ?? .null, row[3], .null, record]
    }

    private mutating func decode(
        _ record: SQLValue, sequence: Int64, device: Int64, topic: Int64
    ) -> PendingNotification? {
        let bytes = record.bytes ?? []
        let pending = PendingRecord.decode(
            bytes.span, sequence: sequence, device: DeviceID(stored: device), topic: TopicID(stored: topic))
        if pending == nil { damagedCount += 1 }
        return pending
    }
}
