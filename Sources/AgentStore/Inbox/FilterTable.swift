// SPDX-License-Identifier: Apache-2.0

internal import PushCore
package import PushSQL
internal import PushSQLite

/// The table of due filters and of filter results; a row is deleted with its inbox entry.
package final class FilterTable {
    private let insert: Statement
    private let finish: Statement
    private let selectDue: Statement
    private let select: Statement

    init(_ connection: Connection) throws(SQLError) {
        insert = try connection.prepare("INSERT INTO filters (entry, is_due) VALUES (?, 1)")
        finish = try connection.prepare("UPDATE filters SET is_due = 0, payload = ?2, note = ?3 WHERE entry = ?1")
        selectDue = try connection.prepare(
            """
            SELECT entry FROM filters WHERE is_due = 1
                AND entry IN (SELECT entry FROM inbox WHERE state = 'waiting') ORDER BY entry
            """)
        select = try connection.prepare("SELECT is_due, payload, note FROM filters WHERE entry = ?")
    }

    /// The state of an entry's filter.
    package struct Row: Sendable, Equatable {
        /// Whether the filter has not answered yet.
        package var isDue: Bool
        /// The payload to show instead of the provider's; nil for the provider's.
        var payload: [UInt8]?
        /// The filter's error; empty for none.
        package var note: String
    }

    /// Adds an entry whose filter is due.
    package func add(_ entry: EntryID) throws(SQLError) {
        insert.bind(entry.rawValue, at: 1)
        try insert.run()
    }

    /// Stores the filter's answer.
    package func finish(_ entry: EntryID, payload: [UInt8]?, note: String) throws(SQLError) {
        finish.bind(entry.rawValue, at: 1)
        finish.bind(payload, at: 2)
        finish.bind(note, at: 3)
        try finish.run()
    }

    /// Returns the entries whose filter is due, oldest first.
    package func due() throws(SQLError) -> [EntryID] {
        defer { selectDue.reset() }
        var entries: [EntryID] = []
        while try selectDue.step() { entries.append(EntryID(rawValue: selectDue.int64(0))) }
        return entries
    }

    /// Returns the state of an entry's filter; nil if the entry has no filter.
    package func row(of entry: EntryID) throws(SQLError) -> Row? {
        defer { select.reset() }
        select.bind(entry.rawValue, at: 1)
        guard try select.step() else { return nil }
        return Row(isDue: select.int64(0) != 0, payload: select.optionalBytes(1), note: select.string(2))
    }
}
