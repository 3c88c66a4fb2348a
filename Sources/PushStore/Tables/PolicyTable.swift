// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// What administrators set for devices; 0 stands for every device, an empty topic for every app.
final class PolicyTable {
    static let version6: StaticString = """
        CREATE TABLE policies(
            device INTEGER NOT NULL, topic TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
            locked INTEGER NOT NULL, PRIMARY KEY (device, topic, name)) WITHOUT ROWID, STRICT;
        """

    private let selectAll: Statement
    private let selectForDevice: Statement
    private let upsert: Statement
    private let delete: Statement
    private let deleteDevice: Statement
    private let deleteTopic: Statement
    private let countAll: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        selectAll = try connection.prepare(
            "SELECT device, topic, name, value, locked FROM policies ORDER BY device, topic, name")
        // A device's own rule goes before that for all devices.
        selectForDevice = try connection.prepare(
            """
            SELECT device, topic, name, value, locked FROM policies AS rule WHERE device = ?1 OR device = 0
                AND NOT EXISTS (
                    SELECT 1 FROM policies WHERE device = ?1 AND topic = rule.topic AND name = rule.name)
            ORDER BY topic, name
            """)
        upsert = try connection.prepare("INSERT OR REPLACE INTO policies VALUES (?, ?, ?, ?, ?)")
        delete = try connection.prepare("DELETE FROM policies WHERE device = ? AND topic = ? AND name = ? RETURNING 1")
        deleteDevice = try connection.prepare("DELETE FROM policies WHERE device = ?")
        deleteTopic = try connection.prepare("DELETE FROM policies WHERE topic = ? RETURNING 1")
        countAll = try connection.prepare("SELECT count(*) FROM policies")
    }

    /// All rules.
    func all() throws(SQLiteError) -> [PolicyRule] { try rules(selectAll) }

    /// The rules for one device.
    func rules(for device: DeviceID) throws(SQLiteError) -> [PolicyRule] {
        selectForDevice.bind(device.stored, at: 1)
        return try rules(selectForDevice)
    }

    /// How many rules there are.
    func count() throws(SQLiteError) -> Int64 {
        defer { countAll.reset() }
        return try countAll.step() ? countAll.int64(0) : 0
    }

    func set(_ place: PolicyRequest.Place, _ value: String, isLocked: Bool) throws(SQLiteError) {
        bind(place, upsert)
        upsert.bind(value, at: 4)
        upsert.bind(isLocked ? 1 : 0, at: 5)
        try upsert.run()
    }

    /// Removes a rule; false when there was none.
    func remove(_ place: PolicyRequest.Place) throws(SQLiteError) -> Bool {
        defer { delete.reset() }
        bind(place, delete)
        return try delete.step()
    }

    /// Removes the rules of a device that is gone.
    func removeAll(of device: DeviceID) throws(SQLiteError) {
        deleteDevice.bind(device.stored, at: 1)
        try deleteDevice.run()
    }

    /// Removes the rules for an app that is gone; false when there was none.
    func removeAll(topic: String) throws(SQLiteError) -> Bool {
        defer { deleteTopic.reset() }
        deleteTopic.bind(topic, at: 1)
        var isAny = false
        while try deleteTopic.step() { isAny = true }
        return isAny
    }

    private func bind(_ place: PolicyRequest.Place, _ statement: Statement) {
        statement.bind(place.device?.stored ?? 0, at: 1)
        statement.bind(place.topic ?? "", at: 2)
        statement.bind(place.setting.rawValue, at: 3)
    }

    private func rules(_ statement: Statement) throws(SQLiteError) -> [PolicyRule] {
        defer { statement.reset() }
        var rules: [PolicyRule] = []
        while try statement.step() {
            let (device, topic) = (statement.int64(0), statement.string(1))
            rules.append(
                PolicyRule(
                    device: device == 0 ? nil : DeviceID(rawValue: UInt64(bitPattern: device)).text,
                    topic: topic.isEmpty ? nil : topic, setting: statement.string(2), value: statement.string(3),
                    locked: statement.int64(4) != 0))
        }
        return rules
    }
}
