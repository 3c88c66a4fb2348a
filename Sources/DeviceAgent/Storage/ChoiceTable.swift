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
        bind(select, appID, event, setting.rawValue)
        return try select.step() ? select.string(0) : nil
    }

    /// Remembers a choice, or forgets it.
    package func set(
        _ value: String?, for setting: PersonalSetting, appID: String, event: String
    ) throws(SQLiteError) {
        guard let value else {
            bind(delete, appID, event, setting.rawValue)
            return try delete.run()
        }
        bind(replace, appID, event, setting.rawValue)
        replace.bind(value, at: 4)
        try replace.run()
    }

    /// Forgets all choices for an app that is gone.
    package func removeAll(appID: String) throws(SQLiteError) {
        deleteAll.bind(appID, at: 1)
        try deleteAll.run()
    }

    // MARK: What the person had before

    /// No setting has this name.
    private static let earlierStyleName = "earlier-alert"

    /// How an app's alerts appeared before they were switched off; nil when they never were.
    package func earlierStyle(appID: String) throws(SQLiteError) -> AlertStyle? {
        defer { select.reset() }
        bind(select, appID, "", Self.earlierStyleName)
        return try select.step() ? AlertStyle(select.string(0)) : nil
    }

    /// Remembers how an app's alerts appear, which are about to be switched off.
    package func setEarlierStyle(_ style: AlertStyle, appID: String) throws(SQLiteError) {
        bind(replace, appID, "", Self.earlierStyleName)
        replace.bind(style.rawValue, at: 4)
        try replace.run()
    }

    private func bind(_ statement: Statement, _ appID: String, _ event: String, _ name: String) {
        statement.bind(appID, at: 1)
        statement.bind(event, at: 2)
        statement.bind(name, at: 3)
    }
}
