// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Devices and the enrolment codes by which they come; a removed device stays as a tombstone without its secret.
final class DeviceTable {
    /// A live device.
    struct Row {
        var id: DeviceID
        var name: String
        var platform: String
        var enrolledUnixMilliseconds: Int64
        var seenUnixMilliseconds: Int64?
    }

    /// The device behind a secret.
    struct Identity {
        var device: DeviceID
        var seenUnixMilliseconds: Int64?
        /// Its registrations expired, and it was not seen since.
        var isDormant: Bool
    }

    private let insert: Statement
    private let selectBySecret: Statement
    private let selectRemoved: Statement
    private let selectTaken: Statement
    private let selectOne: Statement
    private let selectAll: Statement
    private let selectCount: Statement
    private let tombstone: Statement
    private let markSeen: Statement
    private let markAllSeen: Statement
    private let markDormant: Statement
    private let selectUnseen: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        insert = try connection.prepare(
            """
            INSERT INTO devices(id, secret_hash, name, platform, enrolled_at_ms, seen_at_ms)
            VALUES (?1, ?2, ?3, ?4, ?5, ?5)
            """)
        selectBySecret = try connection.prepare("SELECT id, seen_at_ms, dormant FROM devices WHERE secret_hash = ?")
        selectRemoved = try connection.prepare("SELECT removed_at_ms FROM devices WHERE id = ?")
        selectTaken = try connection.prepare("SELECT 1 FROM devices WHERE id = ? OR secret_hash = ?")
        selectOne = try connection.prepare(
            """
            SELECT id, name, platform, enrolled_at_ms, seen_at_ms FROM devices WHERE id = ? AND removed_at_ms IS NULL
            """)
        selectAll = try connection.prepare(
            """
            SELECT id, name, platform, enrolled_at_ms, seen_at_ms FROM devices WHERE removed_at_ms IS NULL
            ORDER BY enrolled_at_ms, id
            """)
        selectCount = try connection.prepare("SELECT count(*) FROM devices WHERE removed_at_ms IS NULL")
        tombstone = try connection.prepare(
            "UPDATE devices SET secret_hash = NULL, name = '', platform = '', removed_at_ms = ? WHERE id = ?")
        markSeen = try connection.prepare(
            "UPDATE devices SET seen_at_ms = ?, dormant = 0 WHERE id = ? AND removed_at_ms IS NULL")
        markAllSeen = try connection.prepare(
            "UPDATE devices SET seen_at_ms = ? WHERE seen_at_ms IS NULL AND removed_at_ms IS NULL AND dormant = 0")
        markDormant = try connection.prepare("UPDATE devices SET dormant = 1 WHERE id = ?")
        selectUnseen = try connection.prepare(
            """
            SELECT id FROM devices INDEXED BY devices_by_seen
            WHERE seen_at_ms < ? AND removed_at_ms IS NULL AND dormant = 0 ORDER BY seen_at_ms LIMIT ?
            """)
    }

    /// Whether the id was ever given out, or the secret is in use.
    func isTaken(_ device: Int64, secretHash: [UInt8]) throws(SQLiteError) -> Bool {
        selectTaken.bind(device, at: 1)
        selectTaken.bind(secretHash, at: 2)
        defer { selectTaken.reset() }
        return try selectTaken.step()
    }

    /// Adds a device whose id and secret are new.
    func add(_ device: Int64, _ new: StoreRequest.NewDevice, now: Int64) throws(SQLiteError) {
        insert.bind(device, at: 1)
        insert.bind(new.secretHash, at: 2)
        insert.bind(new.name, at: 3)
        insert.bind(new.platform, at: 4)
        insert.bind(now, at: 5)
        try insert.run()
    }

    /// The live device that has a secret.
    func authenticate(_ secretHash: [UInt8]) throws(SQLiteError) -> Identity? {
        selectBySecret.bind(secretHash, at: 1)
        defer { selectBySecret.reset() }
        guard try selectBySecret.step() else { return nil }
        return Identity(
            device: DeviceID(stored: selectBySecret.int64(0)), seenUnixMilliseconds: selectBySecret.optionalInt64(1),
            isDormant: selectBySecret.int64(2) != 0)
    }

    /// Whether a device was ever enrolled, removed ones included.
    func wasEnrolled(_ device: Int64) throws(SQLiteError) -> Bool {
        selectRemoved.bind(device, at: 1)
        defer { selectRemoved.reset() }
        return try selectRemoved.step()
    }

    /// One live device.
    func find(_ device: Int64) throws(SQLiteError) -> Row? {
        selectOne.bind(device, at: 1)
        defer { selectOne.reset() }
        return try selectOne.step() ? row(of: selectOne) : nil
    }

    /// All live devices, oldest first.
    func all() throws(SQLiteError) -> [Row] {
        var rows: [Row] = []
        while try selectAll.step() { rows.append(row(of: selectAll)) }
        return rows
    }

    /// How many live devices there are.
    func count() throws(SQLiteError) -> Int {
        defer { selectCount.reset() }
        return try selectCount.step() ? Int(selectCount.int64(0)) : 0
    }

    /// Leaves nothing of a device but its id.
    func remove(_ device: DeviceID, now: Int64) throws(SQLiteError) {
        tombstone.bind(now, at: 1)
        tombstone.bind(device.stored, at: 2)
        try tombstone.run()
    }

    // MARK: When devices were seen

    /// Notes that a device was seen, if it is live.
    func noteSeen(_ device: DeviceID, now: Int64) throws(SQLiteError) {
        markSeen.bind(now, at: 1)
        markSeen.bind(device.stored, at: 2)
        try markSeen.run()
    }

    /// Counts the devices as seen of which nobody knows when: those of a file of version 1.
    func noteAllSeen(now: Int64) throws(SQLiteError) {
        markAllSeen.bind(now, at: 1)
        try markAllSeen.run()
    }

    /// Leaves a device out of `unseen` until it is seen again.
    func noteDormant(_ device: DeviceID) throws(SQLiteError) {
        markDormant.bind(device.stored, at: 1)
        try markDormant.run()
    }

    /// Devices that were last seen before a moment, and are not dormant; longest unseen first, at most so many.
    func unseen(since moment: Int64, countMax: Int) throws(SQLiteError) -> [DeviceID] {
        var devices: [DeviceID] = []
        selectUnseen.bind(moment, at: 1)
        selectUnseen.bind(Int64(countMax), at: 2)
        while try selectUnseen.step() { devices.append(DeviceID(stored: selectUnseen.int64(0))) }
        return devices
    }

    private func row(of statement: Statement) -> Row {
        Row(
            id: DeviceID(stored: statement.int64(0)), name: statement.string(1), platform: statement.string(2),
            enrolledUnixMilliseconds: statement.int64(3), seenUnixMilliseconds: statement.optionalInt64(4))
    }
}

extension DeviceID {
    /// Takes back what `stored` gave.
    init(stored: Int64) { self.init(rawValue: UInt64(bitPattern: stored)) }

    /// The number as SQLite keeps it.
    var stored: Int64 { Int64(bitPattern: rawValue) }
}
