// SPDX-License-Identifier: Apache-2.0

package import PushSQLite

/// The position of an alert on the screen, with which it is found again after a restart.
package struct AlertPlace: Sendable, Equatable {
    /// A globally unique name of the notification server that shows the alert: the bus's ID and the server's name on
    /// it.
    package var owner: String
    /// The number that the notification server gave the alert.
    package var number: UInt32

    package init(owner: String, number: UInt32) {
        self.owner = owner
        self.number = number
    }
}

/// The table of the alerts on the screen, including those whose notification server has ended.
package final class AlertTable {
    private let replace: Statement
    private let delete: Statement
    private let deleteEnded: Statement
    private let select: Statement
    private let selectPlace: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        replace = try connection.prepare("INSERT OR REPLACE INTO alerts (entry, owner, number) VALUES (?, ?, ?)")
        delete = try connection.prepare("DELETE FROM alerts WHERE entry = ?")
        deleteEnded = try connection.prepare(
            "DELETE FROM alerts WHERE entry NOT IN (SELECT entry FROM inbox WHERE state IN ('claimed', 'shown'))")
        select = try connection.prepare("SELECT entry, owner, number FROM alerts ORDER BY entry")
        selectPlace = try connection.prepare("SELECT owner, number FROM alerts WHERE entry = ?")
    }

    /// Stores the position of an entry's alert, and deletes the alert that had this number at the same server.
    package func save(_ place: AlertPlace, of entry: EntryID) throws(SQLiteError) {
        replace.bind(entry.rawValue, at: 1)
        replace.bind(place.owner, at: 2)
        replace.bind(Int64(place.number), at: 3)
        try replace.run()
    }

    /// Returns the position of an entry's alert; nil if it is not on the screen.
    package func place(of entry: EntryID) throws(SQLiteError) -> AlertPlace? {
        defer { selectPlace.reset() }
        selectPlace.bind(entry.rawValue, at: 1)
        guard try selectPlace.step() else { return nil }
        return AlertPlace(
            owner: selectPlace.string(0), number: UInt32(truncatingIfNeeded: selectPlace.int64(1)))
    }

    /// Deletes alerts that left the screen.
    package func remove(_ entries: [EntryID]) throws(SQLiteError) {
        for entry in entries {
            delete.bind(entry.rawValue, at: 1)
            try delete.run()
        }
    }

    /// Deletes, at startup, alerts whose entries are gone or answered; returns the others, oldest first.
    package func unanswered() throws(SQLiteError) -> [(entry: EntryID, place: AlertPlace)] {
        try deleteEnded.run()
        defer { select.reset() }
        var alerts: [(entry: EntryID, place: AlertPlace)] = []
        while try select.step() {
            let number = UInt32(truncatingIfNeeded: select.int64(2))
            alerts.append((EntryID(rawValue: select.int64(0)), AlertPlace(owner: select.string(1), number: number)))
        }
        return alerts
    }
}
