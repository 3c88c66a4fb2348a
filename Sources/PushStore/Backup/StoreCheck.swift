// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL
internal import PushSQLite

/// Checks every page and every row of a database that no server uses.
///
/// SQLite's integrity check finds damage to the file's structure. The checksum of each pending row finds damage to its
/// content.
package struct StoreCheck: Sendable {
    /// The maximum number of problems reported of each kind.
    private static let problemCountMax = 20

    /// The problems found, one line each; empty for an intact file.
    package private(set) var problems: [String] = []
    /// The number of pending notifications and stored broadcasts.
    package private(set) var pendingCount = 0
    /// The schema version of the file.
    package let schemaVersion: Int

    /// Reads the whole file without changing it.
    ///
    /// The duration is proportional to the file's size.
    ///
    /// - Parameters:
    ///   - path: The database, which must exist.
    ///   - isStill: Whether no process has the file open, as with a backup. Such a file may be read-only.
    /// - Throws: The reason why the file cannot be read. It is `locked` while a server uses the file, and `newerSchema`
    ///   when a later version of the program created it.
    package init(path: String, isStill: Bool = false) throws(StoreError) {
        let connection: Connection
        do {
            connection =
                isStill ? try Connection(still: path) : try Connection(path: path, durability: .full, exclusive: true)
        } catch {
            throw StoreError(error, path: path)
        }
        do {
            schemaVersion = try Schema.migrations.foundVersion(of: connection)
            problems = try Schema.migrations.alteredTables(of: connection).map {
                "the definition of \($0) differs from the schema"
            }
        } catch {
            throw StoreError(error, path: path)
        }
        do {
            if problems.isEmpty { try checkStructure(connection) }
            if problems.isEmpty { try checkRows(connection) }
        } catch {
            problems.append("\(error.message) (SQLite code \(error.code))")
        }
    }

    private mutating func checkStructure(_ connection: Connection) throws(SQLError) {
        let check = try connection.prepare("PRAGMA integrity_check(20)")
        while try check.step() {
            let line = check.string(0)
            if line != "ok" { problems.append(line) }
        }
        let foreign = try connection.prepare("PRAGMA foreign_key_check")
        while try foreign.step() {
            if problems.count < 2 * Self.problemCountMax {
                problems.append("a row of \(foreign.string(0)) refers to a row of \(foreign.string(2)) that is missing")
            }
        }
    }

    /// Verifies the checksum of each pending row.
    ///
    /// Files with an older schema are skipped until they are migrated.
    private mutating func checkRows(_ connection: Connection) throws(SQLError) {
        guard schemaVersion == Schema.migrations.version else { return }
        let notifications = try connection.prepare(
            "SELECT sequence, device, topic, record FROM pending ORDER BY sequence")
        while try notifications.step() {
            let sequence = notifications.int64(0)
            let (device, topic) = (
                DeviceID(stored: notifications.int64(1)), TopicID(stored: notifications.int64(2))
            )
            let record = notifications.bytes(3)
            let isIntact =
                PendingRecord.decode(record.span, sequence: sequence, device: device, topic: topic) != nil
            note(sequence, isIntact: isIntact, "notification")
        }
        try checkArchive(connection)
        let broadcasts = try connection.prepare(
            """
            SELECT sequence, channels.id, 0, topic, 0, accepted_at_ms, unique_high, unique_low, request_id, topic_name,
                priority, expiration, payload, checksum
            FROM broadcasts JOIN channels ON channels.number = broadcasts.channel
            """)
        while try broadcasts.step() {
            let pending = PendingNotification(broadcastRow: broadcasts)
            note(pending.sequence, isIntact: pending.checksum == broadcasts.int64(13), "broadcast")
        }
    }

    /// Looks for archived notifications that are missing from the index of their device.
    private mutating func checkArchive(_ connection: Connection) throws(SQLError) {
        let lost = try connection.prepare(
            """
            SELECT sequence FROM pending
            WHERE sequence <= (SELECT value FROM state WHERE name = 'archived_through') AND NOT EXISTS (
                SELECT 1 FROM archived WHERE archived.device = pending.device AND archived.sequence = pending.sequence)
            LIMIT 20
            """)
        while try lost.step() {
            problems.append("pending notification \(lost.int64(0)) is missing from the table archived")
        }
    }

    private mutating func note(_ sequence: Int64, isIntact: Bool, _ kind: String) {
        pendingCount += 1
        guard !isIntact, problems.count < Self.problemCountMax else { return }
        problems.append("\(kind) \(sequence) has a wrong checksum")
    }
}
