// SPDX-License-Identifier: Apache-2.0

internal import PushCore
package import PushSQLite

/// The table of what apps' filters made of notifications; a row goes with its inbox entry.
package final class FilterTable {
    private let insert: Statement
    private let finish: Statement
    private let selectDue: Statement
    private let select: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        insert = try connection.prepare("INSERT INTO filters (entry, is_due) VALUES (?, 1)")
        finish = try connection.prepare("UPDATE filters SET is_due = 0, payload = ?2, note = ?3 WHERE entry = ?1")
        selectDue = try connection.prepare(
            """
            SELECT entry FROM filters WHERE is_due = 1
                AND entry IN (SELECT entry FROM inbox WHERE state = 'waiting') ORDER BY entry
            """)
        select = try connection.prepare("SELECT is_due, payload, note FROM filters WHERE entry = ?")
    }

    /// What is known of an entry.
    package struct Row: Sendable, Equatable {
        /// Whether the filter has not answered.
        package var isDue: Bool
        /// What is shown in the place of the payload; nil for the payload itself.
        package var payload: [UInt8]?
        /// What went wrong; empty for nothing.
        package var note: String
    }

    /// Remembers that an entry waits for its filter.
    package func add(_ entry: Int64) throws(SQLiteError) {
        insert.bind(entry, at: 1)
        try insert.run()
    }

    /// Remembers the filter's answer.
    package func finish(_ entry: Int64, payload: [UInt8]?, note: String) throws(SQLiteError) {
        finish.bind(entry, at: 1)
        finish.bind(payload, at: 2)
        finish.bind(note, at: 3)
        try finish.run()
    }

    /// Entries that wait for their filter, oldest first.
    package func due() throws(SQLiteError) -> [Int64] {
        defer { selectDue.reset() }
        var entries: [Int64] = []
        while try selectDue.step() { entries.append(selectDue.int64(0)) }
        return entries
    }

    /// What is known of an entry; nil when no filter has to do with it.
    package func row(of entry: Int64) throws(SQLiteError) -> Row? {
        defer { select.reset() }
        select.bind(entry, at: 1)
        guard try select.step() else { return nil }
        return Row(isDue: select.int64(0) != 0, payload: select.optionalBytes(1), note: select.string(2))
    }
}

extension AgentDatabase {
    /// What is decided on and shown of an entry: the filter's payload, or else the provider's; nil when neither can be read.
    func shownPayload(
        of entry: InboxEntry, _ translation: AppTexts.Translation
    ) throws(SQLiteError) -> Payload? {
        let bytes = try filters.row(of: entry.entry)?.payload ?? entry.payload
        return try? Payload(parsing: bytes.span, translation: translation)
    }
}
