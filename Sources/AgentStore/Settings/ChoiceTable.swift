// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
package import PushCore
package import PushSQL
internal import PushSQLite

/// The user's choices; for all other settings, the policy or the default applies.
package final class ChoiceTable {
    private let select: Statement
    private let replace: Statement
    private let delete: Statement
    private let deleteAll: Statement

    init(_ connection: Connection) throws(SQLError) {
        select = try connection.prepare("SELECT value FROM choices WHERE app_id = ? AND event = ? AND name = ?")
        replace = try connection.prepare(
            "INSERT OR REPLACE INTO choices (app_id, event, name, value) VALUES (?, ?, ?, ?)")
        delete = try connection.prepare("DELETE FROM choices WHERE app_id = ? AND event = ? AND name = ?")
        deleteAll = try connection.prepare("DELETE FROM choices WHERE app_id = ? AND app_id <> ''")
    }

    /// Returns the user's choice; nil if the setting has no choice.
    func value(
        of setting: Setting, appID: AppID?, event: String
    ) throws(SQLError) -> String? {
        defer { select.reset() }
        bind(select, appID, event, setting.rawValue)
        return try select.step() ? select.string(0) : nil
    }

    /// Stores a choice, or deletes it if the value is nil.
    func set(
        _ value: String?, for setting: Setting, appID: AppID?, event: String
    ) throws(SQLError) {
        guard let value else {
            bind(delete, appID, event, setting.rawValue)
            return try delete.run()
        }
        bind(replace, appID, event, setting.rawValue)
        replace.bind(value, at: 4)
        try replace.run()
    }

    /// Deletes all choices for an app that was removed.
    package func removeAll(appID: AppID) throws(SQLError) {
        deleteAll.bind(appID.text, at: 1)
        try deleteAll.run()
    }

    // MARK: The previous alert style

    /// The key of the previous style; no setting has this name.
    private static let earlierStyleName = "earlier-alert"

    /// Returns the style of an app's alerts before they were switched off; nil if they never were.
    func earlierStyle(appID: AppID?) throws(SQLError) -> AlertStyle? {
        defer { select.reset() }
        bind(select, appID, "", Self.earlierStyleName)
        return try select.step() ? AlertStyle(select.string(0)) : nil
    }

    /// Stores the style of an app's alerts before they are switched off.
    func setEarlierStyle(_ style: AlertStyle, appID: AppID?) throws(SQLError) {
        bind(replace, appID, "", Self.earlierStyleName)
        replace.bind(style.rawValue, at: 4)
        try replace.run()
    }

    private func bind(_ statement: Statement, _ appID: AppID?, _ event: String, _ name: String) {
        statement.bind(appID?.text ?? "", at: 1)
        statement.bind(event, at: 2)
        statement.bind(name, at: 3)
    }
}
