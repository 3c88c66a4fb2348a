// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushSQL
internal import PushSQLite

/// The event types that apps declared, each with its own settings.
package final class EventTypeTable {
    /// An event type of an app.
    package struct EventType: Sendable, Equatable {
        /// The value of `aps.category` in its notifications.
        package var id: String
        /// The name that the user sees.
        package var name: String

        package init(id: String, name: String) {
            self.id = id
            self.name = name
        }
    }

    private let select: Statement
    private let insert: Statement
    private let delete: Statement

    init(_ connection: Connection) throws(SQLError) {
        select = try connection.prepare("SELECT event, name FROM event_types WHERE app_id = ? ORDER BY position")
        insert = try connection.prepare(
            "INSERT OR REPLACE INTO event_types (app_id, event, name, position) VALUES (?, ?, ?, ?)")
        delete = try connection.prepare("DELETE FROM event_types WHERE app_id = ?")
    }

    /// Returns the event types of an app, in the order of its declaration.
    package func all(of appID: AppID) throws(SQLError) -> [EventType] {
        defer { select.reset() }
        select.bind(appID.text, at: 1)
        var types: [EventType] = []
        while try select.step() { types.append(EventType(id: select.string(0), name: select.string(1))) }
        return types
    }

    /// Replaces the event types of an app; must be called inside a transaction.
    package func replaceAll(_ types: [EventType], of appID: AppID) throws(SQLError) {
        delete.bind(appID.text, at: 1)
        try delete.run()
        for (position, type) in types.enumerated() {
            insert.bind(appID.text, at: 1)
            insert.bind(type.id, at: 2)
            insert.bind(type.name, at: 3)
            insert.bind(Int64(position), at: 4)
            try insert.run()
        }
    }
}
