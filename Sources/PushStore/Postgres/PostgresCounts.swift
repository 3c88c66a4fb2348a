// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushSQL

/// Reads the tables to answer queries that a store with SQLite answers from memory.
///
/// A device is connected if `hosts` names an instance of a node that was seen within three seconds. The rows of devices
/// that have moved to another shard are not counted, although this shard keeps them for a minute.
final class PostgresCounts {
    /// The number of this node.
    private let node: Int64
    private let sizes: StoreSizeReader
    /// The events of all nodes; nil for a shard without control data.
    private let nodeCounts: NodeCounts?
    private let countConnected: any SQLStatement
    private let selectLongest: any SQLStatement
    private let selectConnected: any SQLStatement
    private let countRegistrations: any SQLStatement
    private let countPending: any SQLStatement
    private let countSubscriptions: any SQLStatement

    /// Prepares the statements.
    ///
    /// - Parameters:
    ///   - database: The connection to the tables of devices. Those of control data are empty in all shards but one.
    ///   - node: The number of this node.
    ///   - hasControl: Whether the database has the control data.
    /// - Throws: The error that PostgreSQL returned.
    init(_ database: any SQLDatabase, node: Int64, hasControl: Bool) throws(SQLError) {
        self.node = node
        sizes = try StoreSizeReader(database)
        nodeCounts = hasControl ? try NodeCounts(database) : nil
        countConnected = try database.prepare(
            """
            SELECT count(*) FROM hosts JOIN nodes USING (instance)
            WHERE seen_at > clock_timestamp() - interval '3 seconds'
            """)
        selectLongest = try database.prepare(
            "SELECT device, count(*) FROM pending GROUP BY device ORDER BY count(*) DESC, device LIMIT ?")
        selectConnected = try database.prepare(
            """
            SELECT device FROM hosts JOIN nodes USING (instance)
            WHERE device = ANY (CAST(CAST(? AS text) AS bigint[]))
                AND seen_at > clock_timestamp() - interval '3 seconds'
            """)
        countRegistrations = try database.prepare(
            """
            SELECT count(*) FROM registrations WHERE topic = ? AND live = 1
                AND NOT EXISTS (SELECT 1 FROM moved_slots WHERE slot = (device >> 53)::int)
            """)
        countPending = try database.prepare(
            """
            SELECT (SELECT count(*) FROM pending WHERE topic = ?1) + (
                SELECT count(*) FROM broadcasts JOIN channels ON number = channel WHERE topic = ?1)
            """)
        countSubscriptions = try database.prepare(
            """
            SELECT count(*) FROM subscriptions WHERE channel = ?
                AND NOT EXISTS (SELECT 1 FROM moved_slots WHERE slot = (device >> 53)::int)
            """)
    }

    /// Answers a query.
    ///
    /// - Parameter query: The query.
    /// - Returns: The answer.
    /// - Throws: The error that PostgreSQL returned.
    func answer(_ query: StoreEvent.MemoryQuery) throws(SQLError) -> Result<StoreAnswer, StoreRefusal> {
        switch query {
        case .counts: return .success(.counts(try counts()))
        case .longestQueues(let countMax): return .success(.queues(try longestQueues(countMax)))
        case .app(let row): return .success(.app(try app(row)))
        case .apps(let rows):
            var apps: [AdminAPI.App] = []
            for row in rows { apps.append(try app(row)) }
            return .success(.apps(apps))
        case .device(let description):
            return .success(.device(try completed([description])[0]))
        case .devices(let descriptions, let next):
            return .success(.devices(try completed(descriptions), next: next))
        case .channel(let description): return .success(.channel(try completed(description)))
        case .channels(let descriptions):
            var channels: [AdminAPI.Channel] = []
            for description in descriptions { channels.append(try completed(description)) }
            return .success(.channels(channels))
        // `PostgresRequests` refuses searches of the trace.
        case .trace: return .failure(.unavailable(RequestExecutor.misdirected))
        }
    }

    /// Writes the counters of this node for the others, and reads the sizes of the tables.
    ///
    /// - Parameters:
    ///   - events: The counters of this node.
    ///   - instance: The instance of this node.
    /// - Returns: The sizes.
    /// - Throws: The error that PostgreSQL returned.
    func exchange(_ events: AdminAPI.Counts, instance: Int64) throws(SQLError) -> StoreSizes {
        try nodeCounts?.write(events, instance: instance)
        return try sizes.read()
    }

    /// Returns the numbers of rows and the size of the tables.
    func size() throws(SQLError) -> StoreSizes { try sizes.read() }

    /// Returns the counts of rows and the events of all other nodes; this node adds its own.
    private func counts() throws(SQLError) -> AdminAPI.Counts {
        var counts = AdminAPI.Counts()
        for outcome in DeviceAPI.Outcome.allCases { counts.outcomes[outcome.rawValue] = 0 }
        let sizes = try sizes.read()
        counts.apps = sizes.appCount
        counts.devices = sizes.deviceCount
        counts.registrations = sizes.registrationCount
        counts.pending = sizes.pendingCount
        counts.devicesConnected = try count(countConnected)
        counts.includesAllNodes = true
        try nodeCounts?.add(to: &counts, except: node)
        return counts
    }

    private func longestQueues(_ countMax: Int) throws(SQLError) -> [QueueLength] {
        selectLongest.bind(Int64(countMax), at: 1)
        var queues: [QueueLength] = []
        while try selectLongest.step() {
            let device = DeviceID(stored: selectLongest.int64(0))
            queues.append(QueueLength(device: device, count: Int(selectLongest.int64(1)), isConnected: false))
        }
        let connected = try connected(among: queues.map(\.device))
        for index in queues.indices { queues[index].isConnected = connected.contains(queues[index].device) }
        return queues
    }

    private func app(_ row: TopicTable.Row) throws(SQLError) -> AdminAPI.App {
        let topic = Int64(row.topic.id.rawValue)
        return AdminAPI.App(
            row, registrationCount: try count(countRegistrations, topic),
            pendingCount: try count(countPending, topic))
    }

    private func completed(_ description: StoreEvent.ChannelDescription) throws(SQLError) -> AdminAPI.Channel {
        var channel = description.channel
        channel.subscriptionCount = try count(countSubscriptions, description.number.rawValue)
        return channel
    }

    private func completed(_ descriptions: [StoreEvent.DeviceDescription]) throws(SQLError) -> [AdminAPI.Device] {
        let connected = try connected(among: descriptions.map(\.id))
        return descriptions.map { description in
            var device = description.device
            device.connected = connected.contains(description.id)
            if device.connected { device.seenAt = description.now }
            return device
        }
    }

    /// Returns which of some devices are connected to any node.
    private func connected(among devices: [DeviceID]) throws(SQLError) -> Set<DeviceID> {
        guard !devices.isEmpty else { return [] }
        let list = devices.lazy.map { String($0.stored) }.joined(separator: ",")
        selectConnected.bind("{\(list)}", at: 1)
        var connected: Set<DeviceID> = []
        while try selectConnected.step() { connected.insert(DeviceID(stored: selectConnected.int64(0))) }
        return connected
    }

    private func count(_ statement: any SQLStatement, _ value: Int64) throws(SQLError) -> Int {
        statement.bind(value, at: 1)
        return try count(statement)
    }

    private func count(_ statement: any SQLStatement) throws(SQLError) -> Int {
        defer { statement.reset() }
        return try statement.step() ? Int(statement.int64(0)) : 0
    }
}
