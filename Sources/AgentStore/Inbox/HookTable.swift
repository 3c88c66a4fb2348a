// SPDX-License-Identifier: Apache-2.0

package import PushSQL
internal import PushSQLite

/// The table of alerts on the screen whose hook has not started; a row is deleted with its inbox entry.
package final class HookTable {
    private let insert: Statement
    private let delete: Statement
    private let select: Statement

    init(_ connection: Connection) throws(SQLError) {
        insert = try connection.prepare("INSERT OR IGNORE INTO hooks (entry) VALUES (?)")
        delete = try connection.prepare("DELETE FROM hooks WHERE entry = ?")
        select = try connection.prepare("SELECT entry FROM hooks ORDER BY entry")
    }

    /// Adds an entry whose hook must still run.
    package func add(_ entry: EntryID) throws(SQLError) {
        insert.bind(entry.rawValue, at: 1)
        try insert.run()
    }

    /// Removes an entry whose hook is about to start or must not run.
    package func remove(_ entry: EntryID) throws(SQLError) {
        delete.bind(entry.rawValue, at: 1)
        try delete.run()
    }

    /// Returns the entries whose hook must still run, oldest first.
    package func due() throws(SQLError) -> [EntryID] {
        defer { select.reset() }
        var entries: [EntryID] = []
        while try select.step() { entries.append(EntryID(rawValue: select.int64(0))) }
        return entries
    }
}
