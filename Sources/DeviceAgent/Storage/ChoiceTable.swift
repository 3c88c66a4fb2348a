// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushSQLite

/// What the person chose; what is not there is as the policy says, or standard.
package final class ChoiceTable {
    private let select: Statement
    private let replace: Statement
    private let delete: Statement
    private let deleteAll: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        select = try connection.prepare("SELECT value FROM choices WHERE app_id = ? AND event = ? AND name = ?")
        replace = try connection.prepare(
            "INSERT OR REPLACE INTO choices (app_id, event, name, value) VALUES (?, ?, ?, ?)")
        delete = try connection.prepare("DELETE FROM choices WHERE app_id = ? AND event = ? AND name = ?")
        deleteAll = try connection.prepare("DELETE FROM choices WHERE app_id = ? AND app_id <> ''")
    }

    /// The choice; nil when there is none.
    package func value(
        of setting: PersonalSetting, appID: String, event: String
    ) throws(SQLiteError) -> String? {
        defer { select.reset() }
        bind(select, appID, event, setting)
        return try select.step() ? select.string(0) : nil
    }

    /// Remembers a choice, or forgets it.
    package func set(
        _ value: String?, for setting: PersonalSetting, appID: String, event: String
    ) throws(SQLiteError) {
        guard let value else {
            bind(delete, appID, event, setting)
            return try delete.run()
        }
        bind(replace, appID, event, setting)
        replace.bind(value, at: 4)
        try replace.run()
    }

    /// Forgets all choices for an app that is gone.
    package func removeAll(appID: String) throws(SQLiteError) {
        deleteAll.bind(appID, at: 1)
        try deleteAll.run()
    }

    private func bind(_ statement: Statement, _ appID: String, _ event: String, _ setting: PersonalSetting) {
        statement.bind(appID, at: 1)
        statement.bind(event, at: 2)
        statement.bind(setting.rawValue, at: 3)
    }
}
