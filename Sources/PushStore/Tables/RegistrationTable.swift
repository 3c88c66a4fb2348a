// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The registrations of apps on devices, and the topics that each device refuses.
///
/// A row stays when its registration ends. It keeps the generation, so that the next registration gets a different
/// device token, and the end time for `Unregistered`.
final class RegistrationTable {
    typealias Row = RegistrationState

    private let select: any SQLStatement
    private let selectAll: any SQLStatement
    private let selectEnvironment: any SQLStatement
    private let upsert: any SQLStatement
    private let countLive: any SQLStatement
    private let end: any SQLStatement
    private let endOfDevice: any SQLStatement
    private let selectDevices: any SQLStatement
    private let selectTopics: any SQLStatement
    private let selectRecipients: any SQLStatement
    private let liveTopics: any SQLStatement
    private let countByTopic: any SQLStatement
    private let clearFilter: any SQLStatement
    private let addFilter: any SQLStatement
    private let selectFilter: any SQLStatement
    private let removeFilter: any SQLStatement
    private let selectFilterTopics: any SQLStatement
    private let markRefused: any SQLStatement

    init(_ connection: any SQLDatabase) throws(SQLError) {
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
            ON CONFLICT (device, topic) DO UPDATE
            SET generation = ?3, live = 1, refused = ?4, registered_at_ms = ?5, environment = ?6
            """)
        countLive = try connection.prepare("SELECT count(*) FROM registrations WHERE device = ? AND live = 1")
        end = try connection.prepare(
            """
            UPDATE registrations SET live = 0, ended_at_ms = ?, expired = ? WHERE device = ? AND topic = ? AND live = 1
            """)
        endOfDevice = try connection.prepare(
            """
            UPDATE registrations SET live = 0, ended_at_ms = ?, expired = ? WHERE device = ? AND live = 1
            RETURNING topic
            """)
        selectDevices = try connection.prepare(
            """
            SELECT device FROM registrations INDEXED BY registrations_by_topic WHERE topic = ? AND live = 1 LIMIT ?
            """,
            postgres: "SELECT device FROM registrations WHERE topic = ? AND live = 1 LIMIT ?")
        selectRecipients = try connection.prepare(
            """
            SELECT device, generation FROM registrations INDEXED BY registrations_by_topic
            WHERE topic = ? AND live = 1 AND device > ? ORDER BY device LIMIT ?
            """,
            postgres: """
                SELECT device, generation FROM registrations
                WHERE topic = ? AND live = 1 AND device > ? ORDER BY device LIMIT ?
                """)
        selectTopics = try connection.prepare("SELECT topic FROM registrations WHERE device = ? AND live = 1 LIMIT ?")
        liveTopics = try connection.prepare("SELECT topic FROM registrations WHERE device = ? AND live = 1")
        countByTopic = try connection.prepare(
            "SELECT topic, count(*) FROM registrations WHERE live = 1 GROUP BY topic")
        clearFilter = try connection.prepare("DELETE FROM filters WHERE device = ?")
        addFilter = try connection.prepare("INSERT INTO filters VALUES (?, ?) ON CONFLICT DO NOTHING")
        selectFilter = try connection.prepare("SELECT 1 FROM filters WHERE device = ? AND topic = ?")
        removeFilter = try connection.prepare("DELETE FROM filters WHERE device = ? AND topic = ?")
        selectFilterTopics = try connection.prepare("SELECT topic FROM filters WHERE device = ?")
        markRefused = try connection.prepare("UPDATE registrations SET refused = ? WHERE device = ? AND topic = ?")
    }

    /// Returns the registration of an app on a device, live or ended.
    func find(device: Int64, topic: TopicID) throws(SQLError) -> Row? {
        select.bind(device, at: 1)
        select.bind(Int64(topic.rawValue), at: 2)
        defer { select.reset() }
        return try select.step() ? row(of: select) : nil
    }

    /// Returns all registrations of a device, live or ended.
    func all(of device: DeviceID) throws(SQLError) -> [(topic: TopicID, row: Row)] {
        var rows: [(topic: TopicID, row: Row)] = []
        selectAll.bind(device.stored, at: 1)
        while try selectAll.step() { rows.append((TopicID(stored: selectAll.int64(5)), row(of: selectAll))) }
        return rows
    }

    private func row(of select: any SQLStatement) -> Row {
        Row(
            generation: UInt32(truncatingIfNeeded: select.int64(0)), isLive: select.int64(1) != 0,
            isRefused: select.int64(2) != 0, endedAt: select.optionalInt64(3).map(Timestamp.init(unixMilliseconds:)),
            hasExpired: select.int64(4) != 0)
    }

    /// Returns the environment of an app's live or last registration on a device.
    func environment(device: DeviceID, topic: TopicID) throws(SQLError) -> Environment? {
        selectEnvironment.bind(device.stored, at: 1)
        selectEnvironment.bind(Int64(topic.rawValue), at: 2)
        defer { selectEnvironment.reset() }
        return try selectEnvironment.step() ? Environment(rawValue: selectEnvironment.string(0)) : nil
    }

    /// Starts a registration with a new generation.
    func register(
        _ contents: DeviceTokenContents, in environment: Environment, isRefused: Bool, now: Timestamp
    ) throws(SQLError) {
        upsert.bind(contents.device.stored, at: 1)
        upsert.bind(Int64(contents.topic.rawValue), at: 2)
        upsert.bind(Int64(contents.generation), at: 3)
        upsert.bind(isRefused ? 1 : 0, at: 4)
        upsert.bind(now.unixMilliseconds, at: 5)
        upsert.bind(environment.rawValue, at: 6)
        try upsert.run()
    }

    /// Returns the number of live registrations of a device.
    func liveCount(of device: DeviceID) throws(SQLError) -> Int {
        countLive.bind(device.stored, at: 1)
        defer { countLive.reset() }
        return try countLive.step() ? Int(countLive.int64(0)) : 0
    }

    /// Ends a registration if it is live.
    func end(device: DeviceID, topic: TopicID, asExpired: Bool, now: Timestamp) throws(SQLError) {
        end.bind(now.unixMilliseconds, at: 1)
        end.bind(asExpired ? 1 : 0, at: 2)
        end.bind(device.stored, at: 3)
        end.bind(Int64(topic.rawValue), at: 4)
        try end.run()
    }

    /// Ends all registrations of a device; returns the topics that were live.
    func endAll(of device: DeviceID, asExpired: Bool, now: Timestamp) throws(SQLError) -> [TopicID] {
        endOfDevice.bind(now.unixMilliseconds, at: 1)
        endOfDevice.bind(asExpired ? 1 : 0, at: 2)
        endOfDevice.bind(device.stored, at: 3)
        return try topics(of: endOfDevice)
    }

    /// Returns devices with a live registration of an app, at most `countMax`.
    func someDevices(of topic: TopicID, countMax: Int) throws(SQLError) -> [DeviceID] {
        var devices: [DeviceID] = []
        selectDevices.bind(Int64(topic.rawValue), at: 1)
        selectDevices.bind(Int64(countMax), at: 2)
        while try selectDevices.step() { devices.append(DeviceID(stored: selectDevices.int64(0))) }
        return devices
    }

    /// Returns the next live registrations of an app after a device, ordered by device.
    func recipients(
        of topic: TopicID, after: DeviceID?, countMax: Int
    ) throws(SQLError) -> ListPage<Recipient, DeviceID> {
        selectRecipients.bind(Int64(topic.rawValue), at: 1)
        selectRecipients.bind(after?.stored ?? -1, at: 2)
        selectRecipients.bind(Int64(countMax), at: 3)
        return try selectRecipients.page(countMax: countMax) { (row) throws(SQLError) in
            Recipient(
                contents: DeviceTokenContents(
                    device: DeviceID(stored: row.int64(0)), topic: topic,
                    generation: UInt32(truncatingIfNeeded: row.int64(1))))
        } key: {
            DeviceID(stored: $0.int64(0))
        }
    }

    /// Returns apps with a live registration on a device, at most `countMax`.
    func someTopics(of device: DeviceID, countMax: Int) throws(SQLError) -> [TopicID] {
        selectTopics.bind(device.stored, at: 1)
        selectTopics.bind(Int64(countMax), at: 2)
        return try topics(of: selectTopics)
    }

    /// Returns the apps with a live registration on a device.
    func liveTopics(of device: DeviceID) throws(SQLError) -> [TopicID] {
        liveTopics.bind(device.stored, at: 1)
        return try topics(of: liveTopics)
    }

    /// Returns the number of live registrations of each topic.
    func liveCountByTopic() throws(SQLError) -> [TopicID: Int] {
        var counts: [TopicID: Int] = [:]
        while try countByTopic.step() {
            counts[TopicID(stored: countByTopic.int64(0))] = Int(countByTopic.int64(1))
        }
        return counts
    }

    // MARK: Filters

    /// Returns the topics that a device refuses.
    func filter(of device: DeviceID) throws(SQLError) -> Set<TopicName> {
        var topics: Set<TopicName> = []
        selectFilterTopics.bind(device.stored, at: 1)
        while try selectFilterTopics.step() { topics.insert(TopicName(selectFilterTopics.string(0))) }
        return topics
    }

    /// Adds a topic to a device's filter, or removes it.
    func setFilter(of device: DeviceID, _ topic: TopicName, isRefused: Bool) throws(SQLError) {
        let statement = isRefused ? addFilter : removeFilter
        statement.bind(device.stored, at: 1)
        statement.bind(topic.text, at: 2)
        try statement.run()
    }

    /// Sets on a registration whether its device refuses the topic.
    func setRefused(_ isRefused: Bool, device: DeviceID, topic: TopicID) throws(SQLError) {
        markRefused.bind(isRefused ? 1 : 0, at: 1)
        markRefused.bind(device.stored, at: 2)
        markRefused.bind(Int64(topic.rawValue), at: 3)
        try markRefused.run()
    }

    /// Deletes the filter of a removed device.
    func forgetFilter(of device: DeviceID) throws(SQLError) {
        clearFilter.bind(device.stored, at: 1)
        try clearFilter.run()
    }

    /// Returns whether a device refuses a topic.
    func isRefused(_ topic: TopicName, by device: DeviceID) throws(SQLError) -> Bool {
        selectFilter.bind(device.stored, at: 1)
        selectFilter.bind(topic.text, at: 2)
        defer { selectFilter.reset() }
        return try selectFilter.step()
    }

    private func topics(of statement: any SQLStatement) throws(SQLError) -> [TopicID] {
        var topics: [TopicID] = []
        while try statement.step() { topics.append(TopicID(stored: statement.int64(0))) }
        return topics
    }
}

extension TopicID {
    /// Decodes a column that contains only topic numbers.
    init(stored: Int64) { self.init(rawValue: UInt32(truncatingIfNeeded: stored)) }
}
