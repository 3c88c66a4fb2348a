// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Broadcast channels; a removed one leaves nothing behind.
///
/// No tombstone prevents the reuse of a removed channel's ID. IDs are 128 random bits: a provider that creates a
/// billion channels reuses an old ID with a probability of about 1 in 10^20. Tombstones would grow for as long as a
/// provider creates and removes channels.
final class ChannelTable {
    struct Row {
        var number: ChannelNumber
        var id: ChannelID
        var topic: TopicID
        var environment: Environment
        var policy: MessageStoragePolicy
        var createdAt: Timestamp
    }

    private let insert: any SQLStatement
    private let selectOne: any SQLStatement
    private let selectID: any SQLStatement
    private let selectPage: any SQLStatement
    private let selectAtBound: any SQLStatement
    private let delete: any SQLStatement
    private let deleteOfTopic: any SQLStatement

    init(_ connection: any SQLDatabase) throws(SQLError) {
        insert = try connection.prepare(
            "INSERT INTO channels(id, topic, environment, policy, created_at_ms) VALUES (?, ?, ?, ?, ?)")
        selectOne = try connection.prepare(
            "SELECT number, id, topic, environment, policy, created_at_ms FROM channels WHERE id = ?")
        selectID = try connection.prepare("SELECT id FROM channels WHERE number = ?")
        selectPage = try connection.prepare(
            """
            SELECT number, id, topic, environment, policy, created_at_ms FROM channels INDEXED BY channels_of_topic
            WHERE topic = ? AND number > ? ORDER BY number LIMIT ?
            """,
            postgres: """
                SELECT number, id, topic, environment, policy, created_at_ms FROM channels
                WHERE topic = ? AND number > ? ORDER BY number LIMIT ?
                """)
        selectAtBound = try connection.prepare(
            "SELECT 1 FROM channels WHERE topic = ? AND environment = ? LIMIT 1 OFFSET ?")
        delete = try connection.prepare("DELETE FROM channels WHERE number = ?")
        deleteOfTopic = try connection.prepare("DELETE FROM channels WHERE topic = ? RETURNING number")
    }

    /// Adds a channel with a new ID.
    func add(
        _ id: ChannelID, topic: TopicID, environment: Environment, policy: MessageStoragePolicy, now: Timestamp
    ) throws(SQLError) {
        insert.bind(id.bytes, at: 1)
        insert.bind(Int64(topic.rawValue), at: 2)
        insert.bind(environment.rawValue, at: 3)
        insert.bind(Int64(policy.rawValue), at: 4)
        insert.bind(now.unixMilliseconds, at: 5)
        try insert.run()
    }

    /// Returns the channel with an ID, of any app.
    func find(_ id: ChannelID) throws(SQLError) -> Row? {
        selectOne.bind(id.bytes, at: 1)
        defer { selectOne.reset() }
        return try selectOne.step() ? row(of: selectOne) : nil
    }

    /// Returns the ID of the channel with a number; nil if there is no such channel.
    func id(of number: ChannelNumber) throws(SQLError) -> ChannelID? {
        selectID.bind(number.rawValue, at: 1)
        defer { selectID.reset() }
        return try selectID.step() ? ChannelID(selectID.bytes(0)) : nil
    }

    /// Returns the next channels of an app after a number, oldest first, of both environments.
    func page(of topic: TopicID, after number: Int64, countMax: Int) throws(SQLError) -> ListPage<Row, Int64> {
        selectPage.bind(Int64(topic.rawValue), at: 1)
        selectPage.bind(number, at: 2)
        selectPage.bind(Int64(countMax), at: 3)
        return try selectPage.page(countMax: countMax) { (row) in
            self.row(of: row)
        } key: {
            $0.int64(0)
        }
    }

    /// Returns whether an app has at least `countMax` channels in an environment.
    func hasReached(_ countMax: Int, of topic: TopicID, in environment: Environment) throws(SQLError) -> Bool {
        guard countMax > 0 else { return true }
        selectAtBound.bind(Int64(topic.rawValue), at: 1)
        selectAtBound.bind(environment.rawValue, at: 2)
        selectAtBound.bind(Int64(countMax - 1), at: 3)
        defer { selectAtBound.reset() }
        return try selectAtBound.step()
    }

    /// Removes a channel that no row refers to.
    func remove(_ number: ChannelNumber) throws(SQLError) {
        delete.bind(number.rawValue, at: 1)
        try delete.run()
    }

    /// Removes an app's channels, of both environments, that no row refers to.
    func removeAll(of topic: TopicID) throws(SQLError) -> [ChannelNumber] {
        var numbers: [ChannelNumber] = []
        deleteOfTopic.bind(Int64(topic.rawValue), at: 1)
        while try deleteOfTopic.step() { numbers.append(ChannelNumber(rawValue: deleteOfTopic.int64(0))) }
        return numbers
    }

    /// Reads a row; returns nil if the disk damaged its values.
    private func row(of statement: any SQLStatement) -> Row? {
        guard let id = ChannelID(statement.bytes(1)), let environment = Environment(rawValue: statement.string(3)),
            let policy = MessageStoragePolicy(rawValue: Int(statement.int64(4)))
        else { return nil }
        return Row(
            number: ChannelNumber(rawValue: statement.int64(0)), id: id, topic: TopicID(stored: statement.int64(2)),
            environment: environment, policy: policy, createdAt: Timestamp(unixMilliseconds: statement.int64(5)))
    }
}

extension ChannelID {
    /// The sixteen bytes in which databases store the ID.
    var bytes: [UInt8] {
        [high, low].flatMap { half in
            stride(from: UInt64(56), through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> $0) }
        }
    }

    /// Decodes `bytes`; nil for another number of bytes.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        let halves = [bytes[..<8], bytes[8...]].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        self.init(high: halves[0], low: halves[1])
    }
}
