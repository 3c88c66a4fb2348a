// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushPostgres
internal import PushSQL
internal import PushStore

/// The blocking connections of a worker to the shards, which open when a job needs them, and again after a loss.
final class ShardConnections {
    private static let pauseMilliseconds: Int64 = 200

    private let configuration: PostgresStoreConfiguration
    private let instance: InstanceID
    private let bounds: StoreBounds
    private let slots: Lock<SlotMap>
    /// The databases that the node found when it started.
    private let databases: ShardDatabases
    /// The shards that a job tries to reach repeatedly; it tries once to reach each other shard.
    private let patientShards: Range<Int>
    /// Returns the time from which no job waits any more.
    private let waitEnd: @Sendable () -> MonotonicTime
    /// The time until which the current job waits for connections; nil if it has the full patience for each.
    var waitsUntil: MonotonicTime?
    /// The number of transactions whose COMMIT was sent, or is about to be sent.
    private(set) var commitCount = 0
    private var connections: [Int: PostgresConnection] = [:]
    private var requests: [Int: PostgresRequests] = [:]
    /// The requests on all shards.
    private(set) lazy var sharded = ShardedRequests(
        shardCount: shardCount, slots: { [slots] in slots.withLock { $0 } },
        shard: { [unowned self] (index) throws(SQLError) in try requests(ofShard: index) })

    /// Creates the connections of a worker without opening one.
    ///
    /// - Parameters:
    ///   - configuration: The addresses of the shards.
    ///   - instance: The instance of this node.
    ///   - bounds: The bounds of the store.
    ///   - slots: The current assignment of devices to shards.
    ///   - databases: The databases that the node found when it started.
    ///   - patientShards: The shards that a job tries to reach repeatedly.
    ///   - waitEnd: Returns the time from which no job waits, because the node stops.
    init(
        _ configuration: PostgresStoreConfiguration, _ instance: InstanceID, _ bounds: StoreBounds,
        _ slots: Lock<SlotMap>, _ databases: ShardDatabases, patientShards: Range<Int>,
        waitEnd: @escaping @Sendable () -> MonotonicTime
    ) {
        self.configuration = configuration
        self.instance = instance
        self.bounds = bounds
        self.slots = slots
        self.databases = databases
        self.patientShards = patientShards
        self.waitEnd = waitEnd
    }

    var shardCount: Int { configuration.addresses.count }

    /// Returns the requests of the shard with the control data.
    func control() throws(SQLError) -> PostgresRequests { try requests(ofShard: 0) }

    /// Returns the requests of the shard that has a device.
    func requests(of device: DeviceID) throws(SQLError) -> PostgresRequests {
        try requests(ofShard: shard(of: device))
    }

    func isMoving(_ device: DeviceID) -> Bool { slots.withLock { $0.isMoving(device) } }
    func shard(of device: DeviceID) -> Int { slots.withLock { $0.shard(of: device) } }

    /// Returns the requests of a shard, on open connections.
    func requests(ofShard index: Int) throws(SQLError) -> PostgresRequests {
        closeUnusable()
        if let known = requests[index] { return known }
        let control = try connection(toShard: 0)
        let shard = index == 0 ? nil : try connection(toShard: index)
        let made = try makeRequests(control, shard)
        requests[index] = made
        return made
    }

    /// Returns an open connection to a shard; waits if PostgreSQL cannot be reached.
    func connection(toShard index: Int) throws(SQLError) -> PostgresConnection {
        closeUnusable()
        if let known = connections[index] { return known }
        let address = configuration.addresses[index]
        let patienceEnd =
            waitsUntil ?? MonotonicTime.now.advanced(byMilliseconds: configuration.patienceMilliseconds)
        let end = patientShards.contains(index) ? patienceEnd : .past
        while true {
            guard MonotonicTime.now < waitEnd() else {
                throw SQLError(kind: .cannotOpen, code: "08001", message: "the node is stopping", subject: "\(address)")
            }
            let connection: PostgresConnection
            do {
                connection = try PostgresConnection(to: address, settings: configuration.session)
            } catch {
                let next = MonotonicTime.now.advanced(byMilliseconds: Self.pauseMilliseconds)
                guard next < min(end, waitEnd()) else { throw error }
                ElapsedPause.wait(milliseconds: Int(Self.pauseMilliseconds))
                continue
            }
            // Another database would answer that the devices do not exist.
            guard try connection.isDatabase(ofShard: index, in: databases) else {
                throw SQLError(
                    kind: .cannotOpen, code: "database",
                    message: "the server has another database than when this node started", subject: "\(address)")
            }
            connections[index] = connection
            return connection
        }
    }

    /// Closes connections after an error: all of them if one was lost, otherwise only unusable ones.
    func close(after error: SQLError) {
        guard error.kind == .disconnected else { return closeUnusable() }
        connections = [:]
        requests = [:]
    }

    private func closeUnusable() {
        for (index, connection) in connections where !connection.isUsable {
            connections[index] = nil
            requests[index] = nil
            if index == 0 { requests = [:] }
        }
    }

    private func makeRequests(
        _ control: PostgresConnection, _ shard: PostgresConnection?
    ) throws(SQLError) -> PostgresRequests {
        let clock = try control.prepare("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
        let now = configuration.store.now
        let time: () -> Timestamp = {
            defer { clock.reset() }
            guard let isRow = try? clock.step(), isRow else { return now() }
            return Timestamp(unixMilliseconds: clock.int64(0))
        }
        var environment = PostgresRequests.Environment(
            node: Int64(instance.node.rawValue), now: configuration.requestTime ?? time,
            lastAnswered: { NotificationIDLayout.least(at: time().unixMilliseconds) - 1 },
            transaction: { [unowned self] body throws(SQLError) in
                func counted() throws(SQLError) {
                    try body()
                    commitCount += 1
                }
                guard let shard else { return try control.transaction { () throws(SQLError) in try counted() } }
                // The control data are committed first, so that no code is used twice. If only this commit succeeds, the
                // next attempt completes the request.
                try shard.transaction { () throws(SQLError) in
                    try control.transaction { () throws(SQLError) in try counted() }
                }
            }, pause: { range in ElapsedPause.wait(milliseconds: .random(in: range)) })
        environment.hasTrace = configuration.store.hasTrace
        if configuration.addresses.count > 1 {
            environment.shard = { [unowned self] (device) throws(SQLError) in try requests(of: device) }
        }
        return try PostgresRequests(control, shard: shard, bounds, environment)
    }
}
