// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushSQL
internal import PushSQLite

/// The table of notifications that are to be shown again; a row is deleted with its inbox entry.
package final class ReminderTable {
    private let replace: Statement
    private let delete: Statement
    private let select: Statement
    private let reopen: Statement
    private let detach: Statement

    init(_ connection: Connection) throws(SQLError) {
        replace = try connection.prepare("INSERT OR REPLACE INTO reminders (entry, at_ms) VALUES (?, ?)")
        delete = try connection.prepare("DELETE FROM reminders WHERE entry = ?")
        select = try connection.prepare("SELECT entry, at_ms FROM reminders ORDER BY at_ms, entry")
        // The server has the outcome of the first presentation, so nothing more is reported to it: sequence 0.
        reopen = try connection.prepare(
            "UPDATE inbox SET state = 'waiting', reason = '', is_read = 0, sequence = 0 WHERE entry = ?")
        detach = try connection.prepare("UPDATE inbox SET collapse_id = NULL, channel = NULL WHERE entry = ?")
    }

    /// Sets the time of an entry's reminder, or removes the reminder if the time is nil.
    package func set(_ time: Timestamp?, of entry: EntryID) throws(SQLError) {
        guard let time else {
            delete.bind(entry.rawValue, at: 1)
            return try delete.run()
        }
        replace.bind(entry.rawValue, at: 1)
        replace.bind(time.unixMilliseconds, at: 2)
        try replace.run()
    }

    /// Returns all reminders, the next one first.
    package func all() throws(SQLError) -> [(entry: EntryID, time: Timestamp)] {
        defer { select.reset() }
        var reminders: [(entry: EntryID, time: Timestamp)] = []
        while try select.step() {
            reminders.append((EntryID(rawValue: select.int64(0)), Timestamp(unixMilliseconds: select.int64(1))))
        }
        return reminders
    }

    /// Makes an entry wait for its presentation again.
    func reopen(_ entry: EntryID) throws(SQLError) {
        reopen.bind(entry.rawValue, at: 1)
        try reopen.run()
    }

    /// Removes the collapse ID and the channel, so that the entry does not replace a newer one on the screen.
    func detach(_ entry: EntryID) throws(SQLError) {
        detach.bind(entry.rawValue, at: 1)
        try detach.run()
    }
}
