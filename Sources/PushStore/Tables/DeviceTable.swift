// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Enrolled devices; a removed device stays as a tombstone without its secret.
final class DeviceTable {
    struct Row {
        var id: DeviceID
        var name: String
        var platform: String
        var enrolledAt: Timestamp
        var seenAt: Timestamp?
        /// The name and version of the device's agent; empty before its first stream.
        var agent: String
    }

    /// The position after which a list continues.
    typealias ListCursor = (enrolledAt: Timestamp, id: Int64)

    /// The result of authenticating a device by its secret.
    struct Identity {
        var device: DeviceID
        var seenAt: Timestamp?
        /// Whether its registrations expired and it was not seen since.
        var isDormant: Bool
        /// The recorded name and version of the device's agent.
        var agent: String
    }

    private let insert: any SQLStatement
    private let update: any SQLStatement
    private let updateAgent: any SQLStatement
    private let updateName: any SQLStatement
    private let selectBySecret: any SQLStatement
    private let selectSecret: any SQLStatement
    private let selectRemoved: any SQLStatement
    private let selectTaken: any SQLStatement
    private let selectOne: any SQLStatement
    private let selectPage: any SQLStatement
    private let selectPlace: any SQLStatement
    private let selectCount: any SQLStatement
    private let tombstone: any SQLStatement
    private let markSeen: any SQLStatement
    private let markAllSeen: any SQLStatement
    private let markDormant: any SQLStatement
    private let selectUnseen: any SQLStatement
    private let setAuthorityVersion: any SQLStatement
    private let selectTrust: any SQLStatement

    init(_ connection: any SQLDatabase) throws(SQLError) {
        insert = try connection.prepare(
            """
            INSERT INTO devices(id, secret_hash, name, platform, enrolled_at_ms, seen_at_ms, enrolled_under)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """)
        update = try connection.prepare("UPDATE devices SET secret_hash = ?, name = ?, platform = ? WHERE id = ?")
        updateAgent = try connection.prepare("UPDATE devices SET agent = ? WHERE id = ? AND removed_at_ms IS NULL")
        updateName = try connection.prepare("UPDATE devices SET name = ? WHERE id = ?")
        selectBySecret = try connection.prepare(
            "SELECT id, seen_at_ms, dormant, agent FROM devices WHERE secret_hash = ?")
        selectSecret = try connection.prepare(
            "SELECT id, seen_at_ms, dormant, agent, secret_hash FROM devices WHERE id = ? AND removed_at_ms IS NULL")
        selectRemoved = try connection.prepare("SELECT removed_at_ms FROM devices WHERE id = ?")
        selectTaken = try connection.prepare("SELECT 1 FROM devices WHERE id = ? OR secret_hash = ?")
        selectOne = try connection.prepare(
            """
            SELECT id, name, platform, enrolled_at_ms, seen_at_ms, agent FROM devices
            WHERE id = ? AND removed_at_ms IS NULL
            """)
        selectPage = try connection.prepare(
            """
            SELECT id, name, platform, enrolled_at_ms, seen_at_ms, agent FROM devices INDEXED BY devices_by_enrolment
            WHERE removed_at_ms IS NULL AND (enrolled_at_ms, id) > (?, ?) ORDER BY enrolled_at_ms, id LIMIT ?
            """,
            postgres: """
                SELECT id, name, platform, enrolled_at_ms, seen_at_ms, agent FROM devices
                WHERE removed_at_ms IS NULL AND (enrolled_at_ms, id) > (?, ?) ORDER BY enrolled_at_ms, id LIMIT ?
                """)
        selectPlace = try connection.prepare("SELECT enrolled_at_ms FROM devices WHERE id = ?")
        selectCount = try connection.prepare("SELECT count(*) FROM devices WHERE removed_at_ms IS NULL")
        tombstone = try connection.prepare(
            "UPDATE devices SET secret_hash = NULL, name = '', platform = '', agent = '', removed_at_ms = ? WHERE id = ?"
        )
        markSeen = try connection.prepare(
            "UPDATE devices SET seen_at_ms = ?, dormant = 0 WHERE id = ? AND removed_at_ms IS NULL")
        markAllSeen = try connection.prepare(
            """
            UPDATE devices SET seen_at_ms = ? WHERE seen_at_ms IS NULL AND removed_at_ms IS NULL AND dormant = 0
                AND id NOT IN (SELECT device FROM enrolment_codes WHERE request_hash IS NOT NULL)
            """)
        markDormant = try connection.prepare("UPDATE devices SET dormant = 1 WHERE id = ?")
        selectUnseen = try connection.prepare(
            """
            SELECT id FROM devices INDEXED BY devices_by_seen
            WHERE seen_at_ms < ? AND removed_at_ms IS NULL AND dormant = 0 ORDER BY seen_at_ms LIMIT ?
            """,
            postgres: """
                SELECT id FROM devices
                WHERE seen_at_ms < ? AND removed_at_ms IS NULL AND dormant = 0 ORDER BY seen_at_ms LIMIT ?
                """)
        setAuthorityVersion = try connection.prepare("UPDATE devices SET authority_version = ? WHERE id = ?")
        selectTrust = try connection.prepare(
            """
            SELECT authority_version, enrolled_under, count(*) FROM devices WHERE removed_at_ms IS NULL
            GROUP BY authority_version, enrolled_under
            """)
    }

    /// Returns whether the ID was ever assigned, or the secret is in use.
    func isTaken(_ device: Int64, secretHash: [UInt8]) throws(SQLError) -> Bool {
        selectTaken.bind(device, at: 1)
        selectTaken.bind(secretHash, at: 2)
        defer { selectTaken.reset() }
        return try selectTaken.step()
    }

    /// Adds a device with a new ID and a new secret.
    func add(_ device: Int64, _ new: StoreRequest.NewDevice, now: Timestamp) throws(SQLError) {
        insert.bind(device, at: 1)
        insert.bind(new.secretHash(new.device), at: 2)
        insert.bind(new.name, at: 3)
        insert.bind(new.platform, at: 4)
        insert.bind(now.unixMilliseconds, at: 5)
        // With a request ID, the time stays NULL until the first use, so that the enrolment may be repeated until
        // then.
        insert.bind(new.requestHash == nil ? now.unixMilliseconds : nil, at: 6)
        insert.bind(new.authority, at: 7)
        try insert.run()
    }

    /// Changes a device that was enrolled again before its first use.
    ///
    /// The earlier secret stops working.
    func change(_ device: Int64, _ new: StoreRequest.NewDevice) throws(SQLError) {
        update.bind(new.secretHash(DeviceID(stored: device)), at: 1)
        update.bind(new.name, at: 2)
        update.bind(new.platform, at: 3)
        update.bind(device, at: 4)
        try update.run()
    }

    /// Returns the live device that has a credential.
    func authenticate(_ credential: DeviceCredential) throws(SQLError) -> Identity? {
        let select = credential.device == nil ? selectBySecret : selectSecret
        if let device = credential.device {
            select.bind(device.stored, at: 1)
        } else {
            select.bind(credential.secretHash, at: 1)
        }
        defer { select.reset() }
        guard try select.step() else { return nil }
        guard credential.device == nil || credential.hasHash(select.bytes(4)) else { return nil }
        return Identity(
            device: DeviceID(stored: select.int64(0)),
            seenAt: select.optionalInt64(1).map(Timestamp.init(unixMilliseconds:)),
            isDormant: select.int64(2) != 0, agent: select.string(3))
    }

    /// Records the name and version of a device's agent.
    func setAgent(_ agent: String, of device: DeviceID) throws(SQLError) {
        updateAgent.bind(agent, at: 1)
        updateAgent.bind(device.stored, at: 2)
        try updateAgent.run()
    }

    /// Changes the name of a live device.
    func rename(_ device: Int64, _ name: String) throws(SQLError) {
        updateName.bind(name, at: 1)
        updateName.bind(device, at: 2)
        try updateName.run()
    }

    /// Returns whether a device was ever enrolled, including removed ones.
    func wasEnrolled(_ device: Int64) throws(SQLError) -> Bool {
        selectRemoved.bind(device, at: 1)
        defer { selectRemoved.reset() }
        return try selectRemoved.step()
    }

    /// Returns a live device.
    func find(_ device: Int64) throws(SQLError) -> Row? {
        selectOne.bind(device, at: 1)
        defer { selectOne.reset() }
        return try selectOne.step() ? row(of: selectOne) : nil
    }

    /// Returns the position of a device in the order of enrolment, including a removed one.
    func cursor(of device: Int64) throws(SQLError) -> ListCursor? {
        selectPlace.bind(device, at: 1)
        defer { selectPlace.reset() }
        return try selectPlace.step() ? (Timestamp(unixMilliseconds: selectPlace.int64(0)), device) : nil
    }

    /// Returns the next live devices after a cursor, oldest first.
    func page(after cursor: ListCursor?, countMax: Int) throws(SQLError) -> ListPage<Row, ListCursor> {
        selectPage.bind(cursor?.enrolledAt.unixMilliseconds ?? .min, at: 1)
        selectPage.bind(cursor?.id ?? .min, at: 2)
        selectPage.bind(Int64(countMax), at: 3)
        return try selectPage.page(countMax: countMax) { (row) in
            self.row(of: row)
        } key: {
            (Timestamp(unixMilliseconds: $0.int64(3)), $0.int64(0))
        }
    }

    /// Returns the number of live devices.
    func count() throws(SQLError) -> Int {
        defer { selectCount.reset() }
        return try selectCount.step() ? Int(selectCount.int64(0)) : 0
    }

    /// Removes all data of a device except its ID.
    func remove(_ device: DeviceID, now: Timestamp) throws(SQLError) {
        tombstone.bind(now.unixMilliseconds, at: 1)
        tombstone.bind(device.stored, at: 2)
        try tombstone.run()
    }

    // MARK: When devices were seen

    /// Records the time at which a device was seen, if it is live.
    func noteSeen(_ device: DeviceID, at time: Timestamp) throws(SQLError) {
        markSeen.bind(time.unixMilliseconds, at: 1)
        markSeen.bind(device.stored, at: 2)
        try markSeen.run()
    }

    /// Records now as the last-seen time of the devices that were never used and whose enrolment can no longer be
    /// repeated.
    func noteAllSeen(now: Timestamp) throws(SQLError) {
        markAllSeen.bind(now.unixMilliseconds, at: 1)
        try markAllSeen.run()
    }

    /// Excludes a device from `unseen` until it is seen again.
    func noteDormant(_ device: DeviceID) throws(SQLError) {
        markDormant.bind(device.stored, at: 1)
        try markDormant.run()
    }

    /// Returns devices last seen before a time that are not dormant, longest unseen first, at most `countMax`.
    func unseen(since moment: Timestamp, countMax: Int) throws(SQLError) -> [DeviceID] {
        var devices: [DeviceID] = []
        selectUnseen.bind(moment.unixMilliseconds, at: 1)
        selectUnseen.bind(Int64(countMax), at: 2)
        while try selectUnseen.step() { devices.append(DeviceID(stored: selectUnseen.int64(0))) }
        return devices
    }

    // MARK: Authorities

    /// Records the set of announced authorities that a device trusts now.
    func confirm(authorityVersion: Int64, by device: DeviceID) throws(SQLError) {
        setAuthorityVersion.bind(authorityVersion, at: 1)
        setAuthorityVersion.bind(device.stored, at: 2)
        try setAuthorityVersion.run()
    }

    /// Returns which authorities the live devices trust; reads every device.
    func trust() throws(SQLError) -> [DeviceTrust] {
        defer { selectTrust.reset() }
        var all: [DeviceTrust] = []
        while try selectTrust.step() {
            all.append(
                DeviceTrust(
                    confirmedVersion: selectTrust.int64(0), enrolledUnder: selectTrust.optionalBytes(1),
                    deviceCount: Int(selectTrust.int64(2))))
        }
        return all
    }

    private func row(of statement: any SQLStatement) -> Row {
        Row(
            id: DeviceID(stored: statement.int64(0)), name: statement.string(1), platform: statement.string(2),
            enrolledAt: Timestamp(unixMilliseconds: statement.int64(3)),
            seenAt: statement.optionalInt64(4).map(Timestamp.init(unixMilliseconds:)), agent: statement.string(5))
    }
}

extension DeviceID {
    /// Decodes a number that `stored` returned.
    package init(stored: Int64) { self.init(rawValue: UInt64(bitPattern: stored)) }

    /// The number in the form in which databases store it.
    package var stored: Int64 { Int64(bitPattern: rawValue) }
}
