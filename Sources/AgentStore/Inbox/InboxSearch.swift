// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
package import PushCore
package import PushSQL
internal import PushSQLite

/// Finds notifications by words in their texts and in the names of their apps.
///
/// Reads the table from the newest entry and compares the texts itself, because SQLite's LIKE ignores case only in
/// ASCII and does not normalize combining accents. An index of words would find only whole words, or need more space
/// than the notifications.
package final class InboxSearch {
    /// The kind of notifications to find.
    package enum Kind: String, Sendable, CaseIterable {
        /// All notifications, whatever their state is.
        case all = ""
        /// Only notifications that the user has not seen.
        case unread
        /// Only notifications whose alert was suppressed; their badge or sound may have been presented.
        case suppressed

        fileprivate var number: Int64 {
            switch self {
            case .all: 0
            case .unread: 1
            case .suppressed: 2
            }
        }
    }

    /// The criteria of a search.
    package struct Query: Sendable, Equatable {
        /// Words that must all occur, in any order and in any case; empty for all notifications.
        package var text = ""
        /// The app; nil for all apps.
        package var appID: AppID?
        /// The kind of notifications.
        package var kind = Kind.all
        /// The entry before which the results end; nil for all.
        package var before: EntryID?
        /// The maximum number of results; entries themselves are also limited to `InboxTable.answerCountMax`.
        package var countMax: Int64 = InboxTable.answerCountMax

        /// Creates a query that finds everything.
        package init() {}
    }

    /// The maximum number of words; the rest is ignored.
    private static let wordCountMax = 16
    /// The maximum length of the text in scalars; the rest is ignored.
    private static let textScalarCountMax = 256

    private let selectTexts: Statement
    private let selectEntry: Statement

    init(_ connection: Connection) throws(SQLError) {
        selectTexts = try connection.prepare(
            """
            SELECT entry, app_id, coalesce(title, ''), coalesce(subtitle, ''), coalesce(body, '') FROM inbox
            WHERE (?1 = 0 OR entry < ?1) AND (?2 = '' OR app_id = ?2)
                AND (?3 = 0 OR ?3 = 1 AND is_read = 0 OR ?3 = 2 AND (state = 'suppressed'
                    OR state = 'shown' AND instr(' ' || effects, ' alert:')))
            ORDER BY entry DESC
            """)
        selectEntry = try connection.prepare("SELECT * FROM inbox WHERE entry = ?")
    }

    /// Returns the matching entries, newest first.
    ///
    /// - Parameters:
    ///   - query: The criteria of the search.
    ///   - appNames: Names of apps by app ID, which are searched too.
    /// - Returns: The entries.
    /// - Throws: `SQLError` if the inbox cannot be read.
    package func entries(
        matching query: Query, appNames: [AppID: String]
    ) throws(SQLError) -> [InboxEntry] {
        var entries: [InboxEntry] = []
        var query = query
        query.countMax = min(query.countMax, InboxTable.answerCountMax)
        for (number, _) in try numbers(matching: query, appNames: appNames) {
            selectEntry.bind(number.rawValue, at: 1)
            defer { selectEntry.reset() }
            if try selectEntry.step() { entries.append(InboxTable.entry(in: selectEntry)) }
        }
        return entries
    }

    /// Returns the numbers and apps of the matching entries, newest first, at most `countMax`.
    package func numbers(
        matching query: Query, appNames: [AppID: String]
    ) throws(SQLError) -> [(entry: EntryID, appID: AppID)] {
        var matcher = Matcher(query.text, appNames)
        selectTexts.bind(query.before?.rawValue ?? 0, at: 1)
        selectTexts.bind(query.appID?.text ?? "", at: 2)
        selectTexts.bind(query.kind.number, at: 3)
        defer { selectTexts.reset() }
        var numbers: [(entry: EntryID, appID: AppID)] = []
        while numbers.count < query.countMax, try selectTexts.step() {
            if matcher.finds(selectTexts) {
                numbers.append((EntryID(rawValue: selectTexts.int64(0)), AppID(selectTexts.string(1))))
            }
        }
        return numbers
    }

    /// A running search, with cached results that apply to many rows.
    private struct Matcher {
        private let words: [[UInt32]]
        private let appNames: [AppID: String]
        private var folder = TextFolder()
        /// The words that do not occur in an app's ID or name, by app ID.
        private var restOfApp: [AppID: [[UInt32]]] = [:]
        private var row: [UInt32] = []

        init(_ text: String, _ appNames: [AppID: String]) {
            words = folder.folded(text).prefix(InboxSearch.textScalarCountMax).split(separator: 0x20)
                .prefix(InboxSearch.wordCountMax).map(Array.init)
            self.appNames = appNames
        }

        /// Returns whether all words occur in a row of `selectTexts`.
        mutating func finds(_ statement: Statement) -> Bool {
            if words.isEmpty { return true }
            let rest = rest(AppID(statement.string(1)))
            if rest.isEmpty { return true }
            row.removeAll(keepingCapacity: true)
            for column in 2...4 as ClosedRange<Int32> {
                statement.withBytes(column) { folder.fold($0, into: &row) }
                row.append(0x0A)
            }
            return rest.allSatisfy { TextFolder.contains($0, in: row) }
        }

        private mutating func rest(_ appID: AppID) -> [[UInt32]] {
            if let known = restOfApp[appID] { return known }
            let names = folder.folded("\(appNames[appID] ?? "")\n\(appID)")
            let rest = words.filter { !TextFolder.contains($0, in: names) }
            restOfApp[appID] = rest
            return rest
        }
    }
}
