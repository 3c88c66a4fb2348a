// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// The part of the migration to version 3 that SQL cannot do: it converts pending notifications to records.
enum SchemaVersion3 {
    /// Moves every row of version 2.
    ///
    /// A row with a wrong checksum keeps its place and is found damaged when it is read.
    static func movePending(_ connection: Connection) throws(SQLiteError) {
        let table = try PendingTable(connection)
        let (settled, state) = (try ArchiveTable(connection), try StateTable(connection))
        let select = try connection.prepare(
            """
            SELECT sequence, device, topic, generation, accepted_at_ms, unique_high, unique_low, apns_id, topic_name,
                push_type, priority, expiration, collapse_id, payload, checksum, expires_at_ms
            FROM pending_2 ORDER BY sequence
            """)
        var last: Int64 = 0
        while try select.step() {
            let pending = PendingNotification(version2: select)
            let (notification, address) = (pending.notification, pending.notification.address)
            let collapse = CollapseHash(notification.collapseID)
            let isIntact = pending.checksum == select.int64(14)
            let expires = notification.expirationUnixSeconds == nil ? nil : select.int64(15)
            try table.add(
                PendingTable.New(pending: pending, collapse: collapse, expiresUnixMilliseconds: expires),
                isIntact: isIntact)
            try settled.add(
                ArchiveTable.Row(sequence: pending.sequence, topic: address.topic), of: address.device,
                collapse: collapse)
            last = pending.sequence
        }
        try settled.end()
        try state.setSettledThrough(last)
        try connection.execute("DROP TABLE pending_2")
    }
}

extension PendingNotification {
    fileprivate init(version2 row: Statement) {
        let address = DeviceTokenContents(
            device: DeviceID(stored: row.int64(1)), topic: TopicID(stored: row.int64(2)),
            generation: UInt32(truncatingIfNeeded: row.int64(3)))
        let uniqueID = UniqueID(high: UInt64(bitPattern: row.int64(5)), low: UInt64(bitPattern: row.int64(6)))
        self.init(
            sequence: row.int64(0),
            notification: Notification(
                address: address, apnsID: row.bytes(7), uniqueID: uniqueID, topicName: row.string(8),
                pushType: row.optionalString(9).flatMap(PushType.init(rawValue:)),
                priority: row.optionalInt64(10).map(UInt8.init(truncatingIfNeeded:)),
                expirationUnixSeconds: row.optionalInt64(11), collapseID: row.optionalBytes(12),
                payload: row.bytes(13), acceptedUnixMilliseconds: row.int64(4)))
    }
}
