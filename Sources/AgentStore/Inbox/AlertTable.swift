// SPDX-License-Identifier: Apache-2.0

package import PushSQL
internal import PushSQLite

/// The notification server or panel that shows an alert, and its number there, with which it is found after a restart.
package struct AlertLocation: Sendable, Equatable {
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
    private let selectLocation: Statement

    init(_ connection: Connection) throws(SQLError) {
        replace = try connection.prepare("INSERT OR REPLACE INTO alerts (entry, owner, number) VALUES (?, ?, ?)")
        delete = try connection.prepare("DELETE FROM alerts WHERE entry = ?")
        deleteEnded = try connection.prepare(
            "DELETE FROM alerts WHERE entry NOT IN (SELECT entry FROM inbox WHERE state IN ('claimed', 'shown'))")
        select = try connection.prepare("SELECT entry, owner, number FROM alerts ORDER BY entry")
        selectLocation = try connection.prepare("SELECT owner, number FROM alerts WHERE entry = ?")
    }

    /// Stores the location of an entry's alert, and deletes the alert that had this number at the same notification
    /// server.
    package func save(_ location: AlertLocation, of entry: EntryID) throws(SQLError) {
        replace.bind(entry.rawValue, at: 1)
        replace.bind(location.owner, at: 2)
        replace.bind(Int64(location.number), at: 3)
        try replace.run()
    }

    /// Returns the location of an entry's alert; nil if it is not on the screen.
    package func location(of entry: EntryID) throws(SQLError) -> AlertLocation? {
        defer { selectLocation.reset() }
        selectLocation.bind(entry.rawValue, at: 1)
        guard try selectLocation.step() else { return nil }
        return AlertLocation(
            owner: selectLocation.string(0), number: UInt32(truncatingIfNeeded: selectLocation.int64(1)))
    }

    /// Deletes alerts that left the screen.
    package func remove(_ entries: [EntryID]) throws(SQLError) {
        for entry in entries {
            delete.bind(entry.rawValue, at: 1)
            try delete.run()
        }
    }

    /// Deletes, at startup, alerts whose entries are gone or answered; returns the others, oldest first.
    package func unanswered() throws(SQLError) -> [(entry: EntryID, location: AlertLocation)] {
        try deleteEnded.run()
        defer { select.reset() }
        var alerts: [(entry: EntryID, location: AlertLocation)] = []
        while try select.step() {
            let number = UInt32(truncatingIfNeeded: select.int64(2))
            alerts.append((EntryID(rawValue: select.int64(0)), AlertLocation(owner: select.string(1), number: number)))
        }
        return alerts
    }
}
