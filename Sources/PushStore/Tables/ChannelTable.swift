// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// A channel as the store numbers it; ascending, never used again.
struct ChannelNumber: RawRepresentable, Hashable {
    let rawValue: Int64
}

/// Broadcast channels; a removed one leaves nothing behind.
///
/// No tombstone keeps a removed channel's id from being used again. Ids are 128 random bits: who makes a thousand
/// million of them meets an old one with a chance of one to 10^20, whereas tombstones would grow for as long as a
/// provider makes and removes channels.
final class ChannelTable {
    /// A channel.
    struct Row {
        var number: ChannelNumber
        var id: ChannelID
        var topic: TopicID
        var environment: Environment
        var policy: MessageStoragePolicy
        var createdUnixMilliseconds: Int64
    }

    private let insert: Statement
    private let selectOne: Statement
    private let selectAll: Statement
    private let selectAtBound: Statement
    private let delete: Statement
    private let deleteOfTopic: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        insert = try connection.prepare(
            "INSERT INTO channels(id, topic, environment, policy, created_at_ms) VALUES (?, ?, ?, ?, ?)")
        selectOne = try connection.prepare(
            "SELECT number, id, topic, environment, policy, created_at_ms FROM channels WHERE id = ?")
        selectAll = try connection.prepare(
            """
            SELECT number, id, topic, environment, policy, created_at_ms FROM channels WHERE topic = ? ORDER BY number
            """)
        selectAtBound = try connection.prepare(
            "SELECT 1 FROM channels WHERE topic = ? AND environment = ? LIMIT 1 OFFSET ?")
        delete = try connection.prepare("DELETE FROM channels WHERE number = ?")
        deleteOfTopic = try connection.prepare("DELETE FROM channels WHERE topic = ? RETURNING number")
    }

    /// Adds a channel whose id is new.
    func add(
        _ id: ChannelID, topic: TopicID, environment: Environment, policy: MessageStoragePolicy, now: Int64
    ) throws(SQLiteError) {
        insert.bind(id.bytes, at: 1)
        insert.bind(Int64(topic.rawValue), at: 2)
        insert.bind(environment.rawValue, at: 3)
        insert.bind(Int64(policy.rawValue), at: 4)
        insert.bind(now, at: 5)
        try insert.run()
    }

    /// The channel with an id, whosever it is.
    func find(_ id: ChannelID) throws(SQLiteError) -> Row? {
        selectOne.bind(id.bytes, at: 1)
        defer { selectOne.reset() }
        return try selectOne.step() ? row(of: selectOne) : nil
    }

    /// The channels of an app, oldest first; of both environments when none is given.
    func all(of topic: TopicID, in environment: Environment?) throws(SQLiteError) -> [Row] {
        var rows: [Row] = []
        selectAll.bind(Int64(topic.rawValue), at: 1)
        while try selectAll.step() {
            guard let row = row(of: selectAll) else { continue }
            if environment == nil || row.environment == environment { rows.append(row) }
        }
        return rows
    }

    /// Whether an app has as many channels in an environment.
    func hasReached(_ countMax: Int, of topic: TopicID, in environment: Environment) throws(SQLiteError) -> Bool {
        guard countMax > 0 else { return true }
        selectAtBound.bind(Int64(topic.rawValue), at: 1)
        selectAtBound.bind(environment.rawValue, at: 2)
        selectAtBound.bind(Int64(countMax - 1), at: 3)
        defer { selectAtBound.reset() }
        return try selectAtBound.step()
    }

    /// Removes a channel that nothing refers to any more.
    func remove(_ number: ChannelNumber) throws(SQLiteError) {
        delete.bind(number.rawValue, at: 1)
        try delete.run()
    }

    /// Removes an app's channels, of both environments, that nothing refers to any more.
    func removeAll(of topic: TopicID) throws(SQLiteError) -> [ChannelNumber] {
        var numbers: [ChannelNumber] = []
        deleteOfTopic.bind(Int64(topic.rawValue), at: 1)
        while try deleteOfTopic.step() { numbers.append(ChannelNumber(rawValue: deleteOfTopic.int64(0))) }
        return numbers
    }

    /// Reads a row; nil for one whose words a disk made up.
    private func row(of statement: Statement) -> Row? {
        guard let id = ChannelID(statement.bytes(1)), let environment = Environment(rawValue: statement.string(3)),
            let policy = MessageStoragePolicy(rawValue: Int(statement.int64(4)))
        else { return nil }
        return Row(
            number: ChannelNumber(rawValue: statement.int64(0)), id: id, topic: TopicID(stored: statement.int64(2)),
            environment: environment, policy: policy, createdUnixMilliseconds: statement.int64(5))
    }
}

extension ChannelID {
    /// The sixteen bytes, as SQLite keeps them.
    var bytes: [UInt8] {
        [high, low].flatMap { half in
            stride(from: UInt64(56), through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> $0) }
        }
    }

    /// Takes back what `bytes` gave; nil for another number of bytes.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        let halves = [bytes[..<8], bytes[8...]].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        self.init(high: halves[0], low: halves[1])
    }
}
