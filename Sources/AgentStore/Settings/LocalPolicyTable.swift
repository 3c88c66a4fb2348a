// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushCore
package import PushSQL
internal import PushSQLite

/// The settings from the server's administrator for this device, as last received.
package final class LocalPolicyTable {
    /// A rule for one setting.
    package struct Rule: Sendable, Equatable {
        /// The topic of the app; nil for all apps and for device-wide settings.
        package var topic: TopicName?
        package var setting: Setting
        package var value: String
        /// Whether the user may not change the value.
        package var isLocked: Bool

        package init(topic: TopicName?, setting: Setting, value: String, isLocked: Bool) {
            self.topic = topic
            self.setting = setting
            self.value = value
            self.isLocked = isLocked
        }
    }

    private let select: Statement
    private let selectAll: Statement
    private let insert: Statement
    private let delete: Statement

    init(_ connection: Connection) throws(SQLError) {
        // An app's own rule takes precedence over the one for all apps.
        select = try connection.prepare(
            "SELECT value, is_locked FROM policy WHERE name = ?1 AND topic IN (?2, '') ORDER BY topic DESC LIMIT 1")
        selectAll = try connection.prepare("SELECT topic, name, value, is_locked FROM policy ORDER BY topic, name")
        insert = try connection.prepare(
            "INSERT OR REPLACE INTO policy (topic, name, value, is_locked) VALUES (?, ?, ?, ?)")
        delete = try connection.prepare("DELETE FROM policy")
    }

    /// Returns the rule for a setting, of a topic or of all apps; nil if neither exists.
    package func rule(
        for setting: Setting, topic: TopicName?
    ) throws(SQLError) -> (value: String, isLocked: Bool)? {
        defer { select.reset() }
        select.bind(setting.rawValue, at: 1)
        select.bind(topic?.text ?? "", at: 2)
        return try select.step() ? (select.string(0), select.int64(1) != 0) : nil
    }

    /// Returns all rules with a known setting.
    package func all() throws(SQLError) -> [Rule] {
        defer { selectAll.reset() }
        var rules: [Rule] = []
        while try selectAll.step() {
            guard let setting = Setting(rawValue: selectAll.string(1)) else { continue }
            rules.append(
                Rule(
                    topic: TopicName(nilIfEmpty: selectAll.string(0)), setting: setting, value: selectAll.string(2),
                    isLocked: selectAll.int64(3) != 0))
        }
        return rules
    }

    /// Replaces all rules; must be called inside a transaction.
    package func replaceAll(_ rules: [Rule]) throws(SQLError) {
        try delete.run()
        for rule in rules {
            insert.bind(rule.topic?.text ?? "", at: 1)
            insert.bind(rule.setting.rawValue, at: 2)
            insert.bind(rule.value, at: 3)
            insert.bind(rule.isLocked ? 1 : 0, at: 4)
            try insert.run()
        }
    }
}
