// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushSQL

/// The policy rules of administrators; device 0 stands for every device, an empty topic for every app.
final class PolicyTable {
    /// A rule as it is stored; also the key after which a list continues.
    struct Rule {
        var device: Int64
        /// The topic; nil for every app.
        var topic: TopicName?
        var name: String
        var value: String
        var isLocked: Bool

        /// The rule as the API returns it.
        var rule: PolicyRule {
            PolicyRule(
                device: device == 0 ? nil : DeviceID(stored: device).text, topic: topic,
                setting: name, value: value, locked: isLocked)
        }

        /// Returns whether the rule precedes another in the order of the table by topic and setting, which compares bytes.
        func isBefore(_ other: Rule) -> Bool {
            if topic == other.topic { return name.utf8.lexicographicallyPrecedes(other.name.utf8) }
            guard let otherTopic = other.topic else { return false }
            return topic.map { $0 < otherTopic } ?? true
        }
    }

    private let selectAll: any SQLStatement
    private let selectOwn: any SQLStatement
    private let selectGeneral: any SQLStatement
    private let upsert: any SQLStatement
    private let delete: any SQLStatement
    private let deleteDevice: any SQLStatement
    private let deleteTopic: any SQLStatement
    private let countAll: any SQLStatement

    init(_ connection: any SQLDatabase) throws(SQLError) {
        selectAll = try connection.prepare(
            """
            SELECT device, topic, name, value, locked FROM policies WHERE (device, topic, name) > (?1, ?2, ?3)
            ORDER BY device, topic, name LIMIT ?4
            """)
        selectOwn = try connection.prepare(
            """
            SELECT device, topic, name, value, locked FROM policies WHERE device = ?1 AND (topic, name) > (?2, ?3)
            ORDER BY topic, name LIMIT ?4
            """)
        // A device's own rule replaces the rule for all devices.
        selectGeneral = try connection.prepare(
            """
            SELECT device, topic, name, value, locked FROM policies AS rule
            WHERE device = 0 AND (topic, name) > (?2, ?3) AND NOT EXISTS (
                SELECT 1 FROM policies WHERE device = ?1 AND topic = rule.topic AND name = rule.name)
            ORDER BY topic, name LIMIT ?4
            """)
        upsert = try connection.prepare(
            """
            INSERT INTO policies VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (device, topic, name) DO UPDATE SET value = excluded.value, locked = excluded.locked
            """)
        delete = try connection.prepare("DELETE FROM policies WHERE device = ? AND topic = ? AND name = ? RETURNING 1")
        deleteDevice = try connection.prepare("DELETE FROM policies WHERE device = ?")
        deleteTopic = try connection.prepare("DELETE FROM policies WHERE topic = ? RETURNING 1")
        countAll = try connection.prepare("SELECT count(*) FROM policies")
    }

    /// Returns the next rules after one, of all devices, ordered by device, topic and setting.
    func rules(after last: Rule?, countMax: Int) throws(SQLError) -> [Rule] {
        selectAll.bind(last?.device ?? .min, at: 1)
        return try rules(selectAll, after: last, countMax: countMax)
    }

    /// Returns the next rules after one for a device, ordered by topic and setting.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - isOwn: Whether to read the device's own rules. Otherwise reads the rules for all devices that no own rule
    ///     replaces.
    ///   - last: The last rule that was read; nil for the first rules.
    ///   - countMax: The maximum number of rules.
    /// - Returns: The rules; fewer than `countMax` at the end.
    /// - Throws: The error that the engine returned.
    func rules(for device: DeviceID, isOwn: Bool, after last: Rule?, countMax: Int) throws(SQLError) -> [Rule] {
        let statement = isOwn ? selectOwn : selectGeneral
        statement.bind(device.stored, at: 1)
        return try rules(statement, after: last, countMax: countMax)
    }

    /// Returns the number of rules.
    func count() throws(SQLError) -> Int64 {
        defer { countAll.reset() }
        return try countAll.step() ? countAll.int64(0) : 0
    }

    func set(_ key: PolicyRequest.RuleKey, _ value: String, isLocked: Bool) throws(SQLError) {
        bind(key, upsert)
        upsert.bind(value, at: 4)
        upsert.bind(isLocked ? 1 : 0, at: 5)
        try upsert.run()
    }

    /// Removes a rule; returns false when there was none.
    func remove(_ key: PolicyRequest.RuleKey) throws(SQLError) -> Bool {
        defer { delete.reset() }
        bind(key, delete)
        return try delete.step()
    }

    /// Removes the rules of a removed device.
    func removeAll(of device: DeviceID) throws(SQLError) {
        deleteDevice.bind(device.stored, at: 1)
        try deleteDevice.run()
    }

    /// Removes the rules for a removed app; returns false when there was none.
    func removeAll(topic: TopicName) throws(SQLError) -> Bool {
        defer { deleteTopic.reset() }
        deleteTopic.bind(topic.text, at: 1)
        var isAny = false
        while try deleteTopic.step() { isAny = true }
        return isAny
    }

    private func bind(_ key: PolicyRequest.RuleKey, _ statement: any SQLStatement) {
        statement.bind(key.device?.stored ?? 0, at: 1)
        statement.bind(key.topic?.text ?? "", at: 2)
        statement.bind(key.setting.rawValue, at: 3)
    }

    private func rules(_ statement: any SQLStatement, after last: Rule?, countMax: Int) throws(SQLError) -> [Rule] {
        statement.bind(last?.topic?.text ?? "", at: 2)
        statement.bind(last?.name ?? "", at: 3)
        statement.bind(Int64(countMax), at: 4)
        defer { statement.reset() }
        var rules: [Rule] = []
        while try statement.step() {
            rules.append(
                Rule(
                    device: statement.int64(0), topic: TopicName(nilIfEmpty: statement.string(1)),
                    name: statement.string(2),
                    value: statement.string(3), isLocked: statement.int64(4) != 0))
        }
        return rules
    }
}
