// SPDX-License-Identifier: Apache-2.0

package import PushSQLite

/// The table of alerts that are on the screen and whose hook has not begun; a row goes with its inbox entry.
package final class HookTable {
    private let insert: Statement
    private let delete: Statement
    private let select: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        insert = try connection.prepare("INSERT OR IGNORE INTO hooks (entry) VALUES (?)")
        delete = try connection.prepare("DELETE FROM hooks WHERE entry = ?")
        select = try connection.prepare("SELECT entry FROM hooks ORDER BY entry")
    }

    /// Remembers that the hook of an entry is still to run.
    package func add(_ entry: Int64) throws(SQLiteError) {
        insert.bind(entry, at: 1)
        try insert.run()
    }

    /// The hook is about to begin, or is not to run.
    package func remove(_ entry: Int64) throws(SQLiteError) {
        delete.bind(entry, at: 1)
        try delete.run()
    }

    /// Entries whose hook is still to run, oldest first.
    package func due() throws(SQLiteError) -> [Int64] {
        defer { select.reset() }
        var entries: [Int64] = []
        while try select.step() { entries.append(select.int64(0)) }
        return entries
    }
}
