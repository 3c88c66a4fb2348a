// SPDX-License-Identifier: Apache-2.0

package import PushSQLite

/// The event types that apps declared, of which a person sets each for itself.
package final class EventTypeTable {
    /// One kind of event.
    package struct EventType: Sendable, Equatable {
        /// `aps.category` of its notifications.
        package var id: String
        /// What a person reads.
        package var name: String

        /// Joins the two.
        package init(id: String, name: String) {
            self.id = id
            self.name = name
        }
    }

    private let select: Statement
    private let insert: Statement
    private let delete: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        select = try connection.prepare("SELECT event, name FROM event_types WHERE app_id = ? ORDER BY position")
        insert = try connection.prepare(
            "INSERT OR REPLACE INTO event_types (app_id, event, name, position) VALUES (?, ?, ?, ?)")
        delete = try connection.prepare("DELETE FROM event_types WHERE app_id = ?")
    }

    /// The event types of an app, as it declared them.
    package func all(of appID: String) throws(SQLiteError) -> [EventType] {
        defer { select.reset() }
        select.bind(appID, at: 1)
        var types: [EventType] = []
        while try select.step() { types.append(EventType(id: select.string(0), name: select.string(1))) }
        return types
    }

    /// Puts event types in the place of those that an app declared before; inside a transaction.
    package func replaceAll(_ types: [EventType], of appID: String) throws(SQLiteError) {
        delete.bind(appID, at: 1)
        try delete.run()
        for (position, type) in types.enumerated() {
            insert.bind(appID, at: 1)
            insert.bind(type.id, at: 2)
            insert.bind(type.name, at: 3)
            insert.bind(Int64(position), at: 4)
            try insert.run()
        }
    }
}
