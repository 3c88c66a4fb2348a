// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushSQL
internal import PushSQLite

/// The table of notifications, and the IDs of recently received ones.
package final class InboxTable {
    /// The maximum number of entries in an answer; a caller continues with those before the last one.
    static let answerCountMax: Int64 = 1000
    /// The number of entries in which an identical notification is searched for.
    private static let duplicateDistanceMax: Int64 = 20
    /// The number of IDs that are stored, far more than a server sends again.
    static let seenCountMax: Int64 = 20_000

    let connection: Connection
    private let insertSeen: Statement
    private let trimSeen: Statement
    private let insert: Statement
    private let removeSurplus: Statement
    private let removeOld: Statement
    private let selectDuplicate: Statement
    private let selectUnread: Statement
    private let updateRead: Statement
    private let selectEntry: Statement
    private let selectNewest: Statement
    private let selectWaiting: Statement
    private let selectCollapsible: Statement
    private let selectReplacement: Statement
    private let selectThreadCount: Statement
    private let selectIDs: Statement
    private let updateState: Statement
    private let updateReason: Statement
    private let updateEffects: Statement
    private let updateTexts: Statement
    private let updatePicture: Statement
    private let updateIgnored: Statement
    private let selectWithPictures: Statement
    private let settleClaimed: Statement
    private let delete: Statement

    init(_ connection: Connection) throws(SQLError) {
        self.connection = connection
        // An entry may outlive its ID in `seen`.
        insertSeen = try connection.prepare(
            """
            INSERT OR IGNORE INTO seen (unique_id)
            SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM inbox WHERE unique_id = ?1)
            """)
        trimSeen = try connection.prepare("DELETE FROM seen WHERE position <= (SELECT max(position) FROM seen) - ?")
        insert = try connection.prepare(
            """
            INSERT INTO inbox (unique_id, sequence, app_id, topic, apns_id, received_ms, accepted_ms, title, subtitle,
                body, payload, collapse_id, state, reason, channel, effects, is_read, thread_id, url,
                ignored)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        removeSurplus = try connection.prepare(Self.removeSurplusSQL)
        removeOld = try connection.prepare(Self.removeOldSQL)
        selectDuplicate = try connection.prepare(Self.duplicateSQL)
        selectUnread = try connection.prepare(
            "SELECT app_id, count(*) FROM inbox WHERE is_read = 0 GROUP BY app_id ORDER BY app_id")
        updateRead = try connection.prepare(
            """
            UPDATE inbox SET is_read = 1
            WHERE is_read = 0 AND (?1 = 0 OR entry = ?1) AND (?2 = '' OR app_id = ?2)
            """)
        selectEntry = try connection.prepare("SELECT * FROM inbox WHERE entry = ?")
        selectNewest = try connection.prepare("SELECT * FROM inbox ORDER BY entry DESC LIMIT ?")
        selectWaiting = try connection.prepare("SELECT entry FROM inbox WHERE state = 'waiting' ORDER BY entry")
        selectCollapsible = try connection.prepare(
            """
            SELECT entry FROM inbox WHERE state = 'waiting' AND app_id = ?1
                AND CASE WHEN ?3 IS NULL THEN channel IS NULL AND collapse_id = ?2 ELSE channel = ?3 END
            ORDER BY entry
            """)
        selectReplacement = try connection.prepare(Self.replacementSQL)
        selectThreadCount = try connection.prepare(Self.threadCountSQL)
        selectIDs = try connection.prepare("SELECT entry FROM inbox WHERE ?1 = '' OR app_id = ?1 ORDER BY entry")
        updateState = try connection.prepare(
            """
            UPDATE inbox SET state = ?2, reason = ?3, is_read = is_read OR ?2 IN ('viewed', 'closed')
            WHERE entry = ?1 AND instr(?4, ' ' || state || ' ')
            """)
        updateReason = try connection.prepare("UPDATE inbox SET reason = ?2 WHERE entry = ?1")
        updateEffects = try connection.prepare("UPDATE inbox SET effects = ?2 WHERE entry = ?1")
        updateTexts = try connection.prepare(
            "UPDATE inbox SET title = ?2, subtitle = ?3, body = ?4, url = ?5, ignored = ?6 WHERE entry = ?1")
        updatePicture = try connection.prepare("UPDATE inbox SET picture = ?2 WHERE entry = ?1")
        updateIgnored = try connection.prepare(
            "UPDATE inbox SET ignored = trim(ignored || char(10) || ?2, char(10)) WHERE entry = ?1")
        selectWithPictures = try connection.prepare("SELECT entry FROM inbox WHERE picture IS NOT NULL ORDER BY entry")
        settleClaimed = try connection.prepare(
            "UPDATE inbox SET state = 'shown', reason = ?1 WHERE state = 'claimed'")
        delete = try connection.prepare("DELETE FROM inbox WHERE (?1 = '' OR app_id = ?1) AND (?2 = 0 OR entry = ?2)")
    }

    /// Records the ID of a notification; returns false if it arrived before.
    package func markSeen(uniqueID: String) throws(SQLError) -> Bool {
        insertSeen.bind(uniqueID, at: 1)
        try insertSeen.run()
        guard connection.changedRowCount > 0 else { return false }
        trimSeen.bind(Self.seenCountMax, at: 1)
        try trimSeen.run()
        return true
    }

    /// Adds an entry and returns its number.
    package func append(_ entry: InboxEntry) throws(SQLError) -> EntryID {
        insert.bind(entry.uniqueID, at: 1)
        insert.bind(entry.sequence, at: 2)
        insert.bind(entry.appID.text, at: 3)
        insert.bind(entry.topic.text, at: 4)
        insert.bind(entry.apnsID, at: 5)
        insert.bind(entry.receivedAt.unixMilliseconds, at: 6)
        insert.bind(entry.acceptedAt.unixMilliseconds, at: 7)
        insert.bind(entry.title, at: 8)
        insert.bind(entry.subtitle, at: 9)
        insert.bind(entry.body, at: 10)
        insert.bind(entry.payload, at: 11)
        insert.bind(entry.collapseID, at: 12)
        insert.bind(entry.state.rawValue, at: 13)
        insert.bind(entry.reason, at: 14)
        insert.bind(entry.channel, at: 15)
        insert.bind(entry.effects, at: 16)
        insert.bind(entry.isRead ? 1 : 0, at: 17)
        insert.bind(entry.threadID, at: 18)
        insert.bind(entry.url, at: 19)
        insert.bind(entry.ignored, at: 20)
        try insert.run()
        return EntryID(rawValue: connection.lastInsertedRow)
    }

    /// Returns whether an identical notification arrived just before, is or will be on the screen, and is unanswered.
    ///
    /// Identical means that the texts are the same and the payload differs at most in its badge.
    ///
    /// - Parameters:
    ///   - entry: The newer notification.
    ///   - parts: The parts that would be presented for it; an entry that presented less is not identical.
    /// - Returns: Whether the newer notification is a duplicate.
    /// - Throws: `SQLError` if the inbox cannot be read.
    package func hasDuplicate(of entry: InboxEntry, for parts: Set<PresentationEffect.Part>) throws(SQLError) -> Bool {
        defer { selectDuplicate.reset() }
        selectDuplicate.bind(entry.appID.text, at: 1)
        selectDuplicate.bind(entry.receivedAt.unixMilliseconds, at: 2)
        selectDuplicate.bind(entry.title, at: 3)
        selectDuplicate.bind(entry.subtitle, at: 4)
        selectDuplicate.bind(entry.body, at: 5)
        selectDuplicate.bind(Self.duplicateDistanceMax, at: 6)
        selectDuplicate.bind(entry.collapseID, at: 7)
        while try selectDuplicate.step() {
            let effects = selectDuplicate.string(1).split(separator: " ").map(String.init)
            guard parts.allSatisfy({ Self.hasTried($0, effects) }) else { continue }
            if Self.comparable(selectDuplicate.bytes(0)) == Self.comparable(entry.payload) { return true }
        }
        return false
    }

    /// Returns whether a part was presented, or failed only because of the device, so that a repetition would fail too.
    private static func hasTried(_ part: PresentationEffect.Part, _ effects: [String]) -> Bool {
        let tried = [nil, .unavailable].map { PresentationEffect(part, $0).text }
        return tried.contains { effects.contains($0) }
    }

    /// Returns a payload without the values that may differ between identical notifications.
    ///
    /// Those values are the badge and the texts; the texts are compared separately, as the user reads them. In the
    /// result, the app's own data comes first and `aps` last, whatever their order was.
    ///
    /// - Parameter payload: The payload as the provider sent it.
    /// - Returns: The members to compare; nil if the payload is not a JSON object.
    private static func comparable(_ payload: [UInt8]) -> [JSONValue.Member]? {
        guard let value = try? JSONValue(parsing: payload.span), case .object(let members) = value else { return nil }
        let own = members.filter { !$0.key.utf8.elementsEqual("aps".utf8) }
        guard case .object(let aps)? = value["aps"] else { return own }
        let isCompared = { (key: String) in !["alert", "badge"].contains { key.utf8.elementsEqual($0.utf8) } }
        return own + [JSONValue.Member(key: "aps", value: .object(aps.filter { isCompared($0.key) }))]
    }

    /// Returns an entry; nil if the number is unknown.
    package func entry(_ number: EntryID) throws(SQLError) -> InboxEntry? {
        defer { selectEntry.reset() }
        selectEntry.bind(number.rawValue, at: 1)
        return try selectEntry.step() ? Self.entry(in: selectEntry) : nil
    }

    /// Returns the newest entries, newest first.
    package func newest(countMax: Int64) throws(SQLError) -> [InboxEntry] {
        defer { selectNewest.reset() }
        selectNewest.bind(min(countMax, Self.answerCountMax), at: 1)
        var entries: [InboxEntry] = []
        while try selectNewest.step() { entries.append(Self.entry(in: selectNewest)) }
        return entries
    }

    /// Returns the numbers of the entries that must still be presented, oldest first.
    package func waiting() throws(SQLError) -> [EntryID] { try numbers(selectWaiting) }

    /// Returns the numbers of an app's waiting entries that a newer one replaces.
    ///
    /// - Parameters:
    ///   - appID: The app.
    ///   - collapseID: The collapse ID of the newer notification, unless it is a broadcast.
    ///   - channel: The channel of the newer notification if it is a broadcast.
    /// - Returns: The numbers, oldest first.
    /// - Throws: `SQLError` if the inbox cannot be read.
    package func waiting(appID: AppID, collapseID: [UInt8]?, channel: String? = nil) throws(SQLError) -> [EntryID] {
        selectCollapsible.bind(appID.text, at: 1)
        selectCollapsible.bind(collapseID, at: 2)
        selectCollapsible.bind(channel, at: 3)
        return try numbers(selectCollapsible)
    }

    /// Returns whether a newer entry replaced this one on the screen.
    package func isReplaced(_ number: EntryID) throws(SQLError) -> Bool {
        defer { selectReplacement.reset() }
        selectReplacement.bind(number.rawValue, at: 1)
        return try selectReplacement.step()
    }

    /// Returns the number of earlier alerts in an entry's thread that are unanswered and unread.
    package func unansweredCount(inThreadOf number: EntryID) throws(SQLError) -> Int {
        defer { selectThreadCount.reset() }
        selectThreadCount.bind(number.rawValue, at: 1)
        return try selectThreadCount.step() ? Int(selectThreadCount.int64(0)) : 0
    }

    /// Moves an entry to another state; returns false if the entry is in none of `states`.
    package func move(
        _ number: EntryID, from states: Set<InboxEntry.State>, to state: InboxEntry.State, reason: String = ""
    ) throws(SQLError) -> Bool {
        updateState.bind(number.rawValue, at: 1)
        updateState.bind(state.rawValue, at: 2)
        updateState.bind(reason, at: 3)
        updateState.bind(" " + states.map(\.rawValue).joined(separator: " ") + " ", at: 4)
        try updateState.run()
        return connection.changedRowCount > 0
    }

    /// Stores the problem with an entry.
    package func setReason(_ reason: String, of number: EntryID) throws(SQLError) {
        updateReason.bind(number.rawValue, at: 1)
        updateReason.bind(reason, at: 2)
        try updateReason.run()
    }

    /// Stores the reason why a part of an entry could not be presented as decided.
    package func note(
        _ reason: SuppressionReason, on part: PresentationEffect.Part, of number: EntryID
    ) throws(SQLError) {
        guard let effects = try entry(number)?.effects.split(separator: " ") else { return }
        let noted = effects.map { effect in
            effect.utf8.elementsEqual(part.rawValue.utf8) ? PresentationEffect(part, reason).text : String(effect)
        }
        try setEffects(noted.joined(separator: " "), of: number)
    }

    /// Stores the outcomes of the parts of an entry.
    package func setEffects(_ effects: String, of number: EntryID) throws(SQLError) {
        updateEffects.bind(number.rawValue, at: 1)
        updateEffects.bind(effects, at: 2)
        try updateEffects.run()
    }

    /// Stores the texts and the link that are shown for an entry.
    package func setTexts(_ payload: Payload, of number: EntryID) throws(SQLError) {
        updateTexts.bind(number.rawValue, at: 1)
        updateTexts.bind(payload.alert?.title, at: 2)
        updateTexts.bind(payload.alert?.subtitle, at: 3)
        updateTexts.bind(payload.alert?.body, at: 4)
        updateTexts.bind(payload.link?.text, at: 5)
        updateTexts.bind(payload.ignoredMembers, at: 6)
        try updateTexts.run()
    }

    /// Stores the path of an entry's picture; nil for none.
    package func setPicture(_ path: String?, of number: EntryID) throws(SQLError) {
        updatePicture.bind(number.rawValue, at: 1)
        updatePicture.bind(path, at: 2)
        try updatePicture.run()
    }

    /// Adds a member of the payload that was ignored, with a colon and the reason.
    package func addIgnored(_ text: String, on number: EntryID) throws(SQLError) {
        updateIgnored.bind(number.rawValue, at: 1)
        updateIgnored.bind(text, at: 2)
        try updateIgnored.run()
    }

    /// Returns the entries that have pictures, in order.
    package func withPictures() throws(SQLError) -> [EntryID] { try numbers(selectWithPictures) }

    /// Marks, at startup, the entries that were being presented when the agent ended as shown; returns their count.
    package func settleClaimed(reason: String) throws(SQLError) -> Int {
        settleClaimed.bind(reason, at: 1)
        try settleClaimed.run()
        return connection.changedRowCount
    }

    /// Deletes the entries of an app, or of all apps if the ID is nil; returns their numbers.
    func removeAll(appID: AppID?) throws(SQLError) -> [EntryID] {
        selectIDs.bind(appID?.text ?? "", at: 1)
        let removed = try numbers(selectIDs)
        delete.bind(appID?.text ?? "", at: 1)
        delete.bind(0, at: 2)
        try delete.run()
        return removed
    }

    /// Deletes one entry; returns false if the number is unknown.
    @discardableResult
    func remove(_ number: EntryID) throws(SQLError) -> Bool {
        delete.bind("", at: 1)
        delete.bind(number.rawValue, at: 2)
        try delete.run()
        return connection.changedRowCount > 0
    }

    /// Deletes the oldest entries beyond a count, except those still to be presented; returns their numbers.
    func removeSurplus(countMax: Int64) throws(SQLError) -> [EntryID] {
        removeSurplus.bind(countMax, at: 1)
        return try numbers(removeSurplus)
    }

    /// Deletes entries beyond an age, except those still to be presented; returns their numbers.
    func removeOld(ageMaxMilliseconds: Int64, now: Timestamp) throws(SQLError) -> [EntryID] {
        removeOld.bind(now.advanced(byMilliseconds: -ageMaxMilliseconds).unixMilliseconds, at: 1)
        removeOld.bind(now.unixMilliseconds, at: 2)
        return try numbers(removeOld)
    }

    // MARK: Seen by the user

    /// Marks entries as seen by the user.
    ///
    /// - Parameters:
    ///   - number: The entry; nil for all.
    ///   - appID: The app; nil for all.
    /// - Returns: The number of entries that were not marked before.
    /// - Throws: `SQLError` if the entries cannot be updated.
    package func markRead(_ number: EntryID?, appID: AppID?) throws(SQLError) -> Int {
        updateRead.bind(number?.rawValue ?? 0, at: 1)
        updateRead.bind(appID?.text ?? "", at: 2)
        try updateRead.run()
        return connection.changedRowCount
    }

    /// Returns the number of unseen entries by app.
    package func unreadCounts() throws(SQLError) -> [(appID: AppID, count: Int64)] {
        defer { selectUnread.reset() }
        var counts: [(appID: AppID, count: Int64)] = []
        while try selectUnread.step() { counts.append((AppID(selectUnread.string(0)), selectUnread.int64(1))) }
        return counts
    }

    private func numbers(_ statement: Statement) throws(SQLError) -> [EntryID] {
        defer { statement.reset() }
        var numbers: [EntryID] = []
        while try statement.step() { numbers.append(EntryID(rawValue: statement.int64(0))) }
        return numbers
    }

    /// Reads an entry from a row with all columns.
    static func entry(in row: Statement) -> InboxEntry {
        var entry = InboxEntry(
            uniqueID: row.string(1), sequence: row.int64(2), appID: AppID(row.string(3)),
            topic: TopicName(row.string(4)),
            apnsID: row.string(5), receivedAt: Timestamp(unixMilliseconds: row.int64(6)),
            acceptedAt: Timestamp(unixMilliseconds: row.int64(7)),
            title: row.optionalString(8), subtitle: row.optionalString(9), body: row.optionalString(10),
            payload: row.bytes(11), collapseID: row.optionalBytes(12), channel: row.optionalString(15),
            threadID: row.optionalString(18), state: InboxEntry.State(rawValue: row.string(13)) ?? .suppressed,
            reason: row.string(14),
            effects: row.string(16))
        entry.entry = EntryID(rawValue: row.int64(0))
        entry.isRead = row.int64(17) != 0
        entry.url = row.optionalString(19)
        entry.picture = row.optionalString(20)
        entry.ignored = row.string(21)
        return entry
    }
}
