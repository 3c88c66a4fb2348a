// SPDX-License-Identifier: Apache-2.0

internal import PushCore
package import PushSQLite

/// Finds notifications by words in their texts and in the names of their apps.
///
/// Reads the table from its newest entry on and compares here, because SQLite's LIKE knows only ASCII's capital letters and
/// takes an accent of its own for another text.
/// An index of words would find only whole ones, or take more room than the notifications.
package final class InboxSearch {
    /// Which notifications are of interest.
    package enum Kind: String, Sendable, CaseIterable {
        /// All of them.
        case all = ""
        /// Only what the person has not seen.
        case unread
        /// Only what was not shown, for a reason; its badge or its sound may have come.
        case suppressed

        fileprivate var number: Int64 {
            switch self {
            case .all: 0
            case .unread: 1
            case .suppressed: 2
            }
        }
    }

    /// What somebody looks for.
    package struct Query: Sendable, Equatable {
        /// Words that must all be there, in any order and any case; empty for everything.
        package var text = ""
        /// Only of this app; empty for all.
        package var appID = ""
        /// Only of this kind.
        package var kind = Kind.all
        /// Only entries before this one; 0 for all.
        package var before: Int64 = 0
        /// At most so many; of entries themselves, at most as many as an answer has.
        package var countMax: Int64 = InboxTable.answerCountMax

        /// Everything.
        package init() {}
    }

    /// More words than these are not looked for.
    private static let wordCountMax = 16
    /// What stands behind so many letters is not looked for.
    private static let textScalarCountMax = 256

    private let selectTexts: Statement
    private let selectEntry: Statement

    init(_ connection: Connection) throws(SQLiteError) {
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

    /// Entries that match, newest first.
    ///
    /// - Parameters:
    ///   - query: What to look for.
    ///   - appNames: Names of apps by their ids, which are searched as well.
    /// - Returns: The entries.
    /// - Throws: What SQLite answered.
    package func entries(
        matching query: Query, appNames: [String: String]
    ) throws(SQLiteError) -> [InboxEntry] {
        var entries: [InboxEntry] = []
        var query = query
        query.countMax = min(query.countMax, InboxTable.answerCountMax)
        for (number, _) in try numbers(matching: query, appNames: appNames) {
            selectEntry.bind(number, at: 1)
            defer { selectEntry.reset() }
            if try selectEntry.step() { entries.append(InboxTable.entry(in: selectEntry)) }
        }
        return entries
    }

    /// Numbers of the entries that match, newest first, and whose they are; as many as `countMax` says.
    package func numbers(
        matching query: Query, appNames: [String: String]
    ) throws(SQLiteError) -> [(entry: Int64, appID: String)] {
        var hunt = Hunt(query.text, appNames)
        selectTexts.bind(query.before, at: 1)
        selectTexts.bind(query.appID, at: 2)
        selectTexts.bind(query.kind.number, at: 3)
        defer { selectTexts.reset() }
        var numbers: [(entry: Int64, appID: String)] = []
        while numbers.count < query.countMax, try selectTexts.step() {
            if hunt.finds(selectTexts) { numbers.append((selectTexts.int64(0), selectTexts.string(1))) }
        }
        return numbers
    }

    /// A search on its way through the table, with what it need not do again for each row.
    private struct Hunt {
        private let words: [[UInt32]]
        private let appNames: [String: String]
        private var folder = TextFolder()
        /// The words that are not in an app's id and name, by its id.
        private var restOfApp: [String: [[UInt32]]] = [:]
        private var row: [UInt32] = []

        init(_ text: String, _ appNames: [String: String]) {
            words = folder.folded(text).prefix(InboxSearch.textScalarCountMax).split(separator: 0x20)
                .prefix(InboxSearch.wordCountMax).map(Array.init)
            self.appNames = appNames
        }

        /// Whether all words are in a row of `selectTexts`.
        mutating func finds(_ statement: Statement) -> Bool {
            if words.isEmpty { return true }
            let rest = rest(statement.string(1))
            if rest.isEmpty { return true }
            row.removeAll(keepingCapacity: true)
            for column in 2...4 as ClosedRange<Int32> {
                statement.withBytes(column) { folder.fold($0, into: &row) }
                row.append(0x0A)
            }
            return rest.allSatisfy { TextFolder.contains($0, in: row) }
        }

        private mutating func rest(_ appID: String) -> [[UInt32]] {
            if let known = restOfApp[appID] { return known }
            let names = folder.folded("\(appNames[appID] ?? "")\n\(appID)")
            let rest = words.filter { !TextFolder.contains($0, in: names) }
            restOfApp[appID] = rest
            return rest
        }
    }
}

extension AgentDatabase {
    /// Removes what is older or more than the person wants to keep, inside a transaction; answers the numbers.
    func trimInbox(nowUnixMilliseconds now: Int64) throws(SQLiteError) -> [Int64] {
        let days = Int64(try settings.value(of: .inboxDays, at: .person).text) ?? 0
        let count = Int64(try settings.value(of: .inboxCount, at: .person).text) ?? 0
        // Both have a standard and are checked when they are set.
        guard days > 0, count > 0 else { return [] }
        let surplus = try inbox.removeSurplus(countMax: count)
        guard try trustsClock(nowUnixSeconds: now / 1000) else { return surplus }
        return surplus + (try inbox.removeOld(ageMaxMilliseconds: days * 24 * 3600 * 1000, nowUnixMilliseconds: now))
    }
}
