// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Registrations of apps on devices, and the topics that a device refuses.
///
/// A row stays when its registration ends: it holds the generation, so that the next registration makes a different
/// device token, and the time for `Unregistered`.
final class RegistrationTable {
    /// What a row says.
    struct Row {
        var generation: UInt32
        var isLive: Bool
        /// The device wants nothing of this topic.
        var isRefused: Bool
        /// When the last registration that ended did so.
        var endedUnixMilliseconds: Int64?
        /// Whether that was because its device was not seen for long.
        var hasExpired: Bool

        /// Why a generation is not to be sent to any more, and since when; nil for the one that is live.
        func rejection(of generation: UInt32) -> (reason: RejectionReason, endedUnixMilliseconds: Int64?)? {
            if isLive, generation == self.generation { return nil }
            let isLastEnded = isLive ? generation &+ 1 == self.generation : generation == self.generation
            return (hasExpired && isLastEnded ? .expiredToken : .unregistered, endedUnixMilliseconds)
        }
    }

    private let select: Statement
    private let selectAll: Statement
    private let selectEnvironment: Statement
    private let upsert: Statement
    private let countLive: Statement
    private let end: Statement
    private let endOfDevice: Statement
    private let endOfTopic: Statement
    private let liveTopics: Statement
    private let countByTopic: Statement
    private let clearFilter: Statement
    private let addFilter: Statement
    private let selectFilter: Statement
    private let markRefused: Statement
    private let refusedTopics: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        select = try connection.prepare(
            """
            SELECT generation, live, refused, ended_at_ms, expired FROM registrations WHERE device = ? AND topic = ?
            """)
        selectAll = try connection.prepare(
            "SELECT generation, live, refused, ended_at_ms, expired, topic FROM registrations WHERE device = ?")
        selectEnvironment = try connection.prepare(
            "SELECT environment FROM registrations WHERE device = ? AND topic = ?")
        upsert = try connection.prepare(
            """
            INSERT INTO registrations(device, topic, generation, live, refused, registered_at_ms, environment)
            VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6)
            ON CONFLICT DO UPDATE SET generation = ?3, live = 1, refused = ?4, registered_at_ms = ?5, environment = ?6
            """)
        countLive = try connection.prepare("SELECT count(*) FROM registrations WHERE device = ? AND live = 1")
        end = try connection.prepare(
            """
            UPDATE registrations SET live = 0, ended_at_ms = ?, expired = 0 WHERE device = ? AND topic = ? AND live = 1
            """)
        endOfDevice = try connection.prepare(
            """
            UPDATE registrations SET live = 0, ended_at_ms = ?, expired = ? WHERE device = ? AND live = 1
            RETURNING topic
            """)
        endOfTopic = try connection.prepare(
            "UPDATE registrations SET live = 0, ended_at_ms = ?, expired = 0 WHERE topic = ? AND live = 1")
        liveTopics = try connection.prepare(
            """
            SELECT topics.topic FROM registrations JOIN topics ON topics.id = registrations.topic
            WHERE device = ? AND live = 1 ORDER BY topics.topic
            """)
        countByTopic = try connection.prepare(
            "SELECT topic, count(*) FROM registrations WHERE live = 1 GROUP BY topic")
        clearFilter = try connection.prepare("DELETE FROM filters WHERE device = ?")
        addFilter = try connection.prepare("INSERT OR IGNORE INTO filters VALUES (?, ?)")
        selectFilter = try connection.prepare("SELECT 1 FROM filters WHERE device = ? AND topic = ?")
        markRefused = try connection.prepare(
            """
            UPDATE registrations SET refused = EXISTS (
                SELECT 1 FROM topics JOIN filters ON filters.topic = topics.topic
                WHERE topics.id = registrations.topic AND filters.device = registrations.device)
            WHERE device = ?
            """)
        refusedTopics = try connection.prepare("SELECT topic FROM registrations WHERE device = ? AND refused = 1")
    }

    /// The row of an app on a device.
    func find(device: Int64, topic: TopicID) throws(SQLiteError) -> Row? {
        select.bind(device, at: 1)
        select.bind(Int64(topic.rawValue), at: 2)
        defer { select.reset() }
        return try select.step() ? row(of: select) : nil
    }

    /// All rows of a device, live or not.
    func all(of device: DeviceID) throws(SQLiteError) -> [(topic: TopicID, row: Row)] {
        var rows: [(topic: TopicID, row: Row)] = []
        selectAll.bind(device.stored, at: 1)
        while try selectAll.step() { rows.append((TopicID(stored: selectAll.int64(5)), row(of: selectAll))) }
        return rows
    }

    private func row(of select: Statement) -> Row {
        Row(
            generation: UInt32(truncatingIfNeeded: select.int64(0)), isLive: select.int64(1) != 0,
            isRefused: select.int64(2) != 0, endedUnixMilliseconds: select.optionalInt64(3),
            hasExpired: select.int64(4) != 0)
    }

    /// The environment of an app's registration on a device, the live or the last one.
    func environment(device: DeviceID, topic: TopicID) throws(SQLiteError) -> Environment? {
        selectEnvironment.bind(device.stored, at: 1)
        selectEnvironment.bind(Int64(topic.rawValue), at: 2)
        defer { selectEnvironment.reset() }
        return try selectEnvironment.step() ? Environment(rawValue: selectEnvironment.string(0)) : nil
    }

    /// Begins a registration with a new generation.
    func register(
        _ contents: DeviceTokenContents, in environment: Environment, isRefused: Bool, now: Int64
    ) throws(SQLiteError) {
        upsert.bind(contents.device.stored, at: 1)
        upsert.bind(Int64(contents.topic.rawValue), at: 2)
        upsert.bind(Int64(contents.generation), at: 3)
        upsert.bind(isRefused ? 1 : 0, at: 4)
        upsert.bind(now, at: 5)
        upsert.bind(environment.rawValue, at: 6)
        try upsert.run()
    }

    /// Live registrations of a device.
    func liveCount(of device: DeviceID) throws(SQLiteError) -> Int {
        countLive.bind(device.stored, at: 1)
        defer { countLive.reset() }
        return try countLive.step() ? Int(countLive.int64(0)) : 0
    }

    /// Ends one registration, if it is live.
    func end(device: DeviceID, topic: TopicID, now: Int64) throws(SQLiteError) {
        end.bind(now, at: 1)
        end.bind(device.stored, at: 2)
        end.bind(Int64(topic.rawValue), at: 3)
        try end.run()
    }

    /// Ends all registrations of a device; returns the topics that were live.
    func endAll(of device: DeviceID, asExpired: Bool, now: Int64) throws(SQLiteError) -> [TopicID] {
        endOfDevice.bind(now, at: 1)
        endOfDevice.bind(asExpired ? 1 : 0, at: 2)
        endOfDevice.bind(device.stored, at: 3)
        return try topics(of: endOfDevice)
    }

    /// Ends all registrations of an app.
    func endAll(of topic: TopicID, now: Int64) throws(SQLiteError) {
        endOfTopic.bind(now, at: 1)
        endOfTopic.bind(Int64(topic.rawValue), at: 2)
        try endOfTopic.run()
    }

    /// The topics live on a device, by name.
    func liveTopicNames(of device: DeviceID) throws(SQLiteError) -> [String] {
        var names: [String] = []
        liveTopics.bind(device.stored, at: 1)
        while try liveTopics.step() { names.append(liveTopics.string(0)) }
        return names
    }

    /// Live registrations of each topic.
    func liveCountByTopic() throws(SQLiteError) -> [TopicID: Int] {
        var counts: [TopicID: Int] = [:]
        while try countByTopic.step() {
            counts[TopicID(stored: countByTopic.int64(0))] = Int(countByTopic.int64(1))
        }
        return counts
    }

    // MARK: Filters

    /// Replaces a device's filter; returns the registered topics that are refused now.
    func setFilter(of device: DeviceID, refusedTopics names: [String]) throws(SQLiteError) -> [TopicID] {
        clearFilter.bind(device.stored, at: 1)
        try clearFilter.run()
        for name in names {
            addFilter.bind(device.stored, at: 1)
            addFilter.bind(name, at: 2)
            try addFilter.run()
        }
        markRefused.bind(device.stored, at: 1)
        try markRefused.run()
        refusedTopics.bind(device.stored, at: 1)
        return try topics(of: refusedTopics)
    }

    /// Forgets the filter of a device that is removed.
    func forgetFilter(of device: DeviceID) throws(SQLiteError) {
        clearFilter.bind(device.stored, at: 1)
        try clearFilter.run()
    }

    /// Whether a device refuses a topic.
    func isRefused(_ topic: String, by device: DeviceID) throws(SQLiteError) -> Bool {
        selectFilter.bind(device.stored, at: 1)
        selectFilter.bind(topic, at: 2)
        defer { selectFilter.reset() }
        return try selectFilter.step()
    }

    private func topics(of statement: Statement) throws(SQLiteError) -> [TopicID] {
        var topics: [TopicID] = []
        while try statement.step() { topics.append(TopicID(stored: statement.int64(0))) }
        return topics
    }
}

extension TopicID {
    /// Takes a number from a table that only holds such numbers.
    init(stored: Int64) { self.init(rawValue: UInt32(truncatingIfNeeded: stored)) }
}
