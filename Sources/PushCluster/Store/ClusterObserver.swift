// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushNet
internal import PushStore

/// Keeps what the node's thread learns about the cluster, for administrators.
struct ClusterObserver {
    /// The time between two counts of the problems.
    private static let pauseMilliseconds: Int64 = 1_000

    private let instance: InstanceID
    private let node: String
    private let hasLinks: Bool
    private var heartbeat: (content: ShardResult.Heartbeat, at: MonotonicTime)?
    /// The reasons why shards cannot be used; nil for a shard that can.
    private var shardProblems: [String?]
    /// The last known properties of the shards.
    private var servers: [ServerState?] = []
    /// The writes of this node in the last minute, by shard.
    private var writes: [RecentWrites]
    /// The time of the next count of the problems.
    private(set) var nextDue = MonotonicTime.past

    init(_ instance: InstanceID, _ configuration: PostgresStoreConfiguration) {
        self.instance = instance
        node = configuration.node
        hasLinks = configuration.links != nil
        shardProblems = configuration.addresses.map { _ in "no connection was opened yet. Wait a moment." }
        writes = configuration.addresses.map { _ in RecentWrites(since: .now) }
    }

    /// The reason why a shard cannot be used; nil while all can.
    private var connectionProblem: String? {
        for (shard, problem) in shardProblems.enumerated() {
            if let problem { return shardProblems.count > 1 ? "shard \(shard): \(problem)" : problem }
        }
        return nil
    }

    /// The shards to which connections can be opened.
    var reachableShards: Set<Int> { Set(shardProblems.indices.filter { shardProblems[$0] == nil }) }

    mutating func setProblem(_ problem: String?, ofShard shard: Int) { shardProblems[shard] = problem }

    mutating func note(_ heartbeat: ShardResult.Heartbeat, at moment: MonotonicTime) {
        self.heartbeat = (heartbeat, moment)
    }

    /// Takes the properties of the shards that were read; an empty list if they could not be read.
    mutating func note(_ servers: [ServerState?]) { self.servers = servers }

    /// Counts the problems and recent writes for the metrics, if it is time.
    mutating func measure(_ store: ClusterStore, _ metrics: ClusterMetrics, at moment: MonotonicTime) {
        guard nextDue <= moment else { return }
        nextDue = moment.advanced(byMilliseconds: Self.pauseMilliseconds)
        for (shard, numbers) in zip(writes.indices, metrics.shards) { writes[shard].note(numbers, at: moment) }
        // Without a connection or a lease, the properties are not read, and the last known ones may be wrong.
        let known = store.leaseMilliseconds == 0 || !reachableShards.contains(0) ? [] : servers
        metrics.setProblems(problems(store, nodes(store, at: moment), known).list)
    }

    /// Describes the cluster at a time.
    ///
    /// - Parameters:
    ///   - store: The store, in a turn.
    ///   - slots: The shards of all devices.
    ///   - servers: The properties of the shards; nil for those that are not known.
    ///   - metrics: The numbers of this node.
    ///   - moment: The current time.
    /// - Returns: The answer for administrators.
    func report(
        _ store: ClusterStore, _ slots: SlotMap, _ servers: [ServerState?], _ metrics: ClusterMetrics?,
        at moment: MonotonicTime
    ) -> ClusterAPI.Status {
        let nodes = nodes(store, at: moment)
        let problems = problems(store, nodes, servers)
        let shards = shardProblems.enumerated().map { number, problem in
            var shard = ClusterAPI.Shard(
                number: number, slotCount: slots.slotCount(of: number), isConnected: problem == nil)
            if servers.indices.contains(number), let server = servers[number] { shard.set(server) }
            shard.absentNodes = problems.absentNodes(ofShard: number)
            if let numbers = metrics?.shards[number] { shard.set(writes[number].rate(numbers, at: moment)) }
            return shard
        }
        return ClusterAPI.Status(node: node, nodes: nodes, shards: shards, problems: problems.list)
    }

    private func problems(
        _ store: ClusterStore, _ nodes: [ClusterAPI.Node], _ servers: [ServerState?]
    ) -> ClusterProblems {
        ClusterProblems(
            node: node, connectionProblem: connectionProblem, hasLease: store.leaseMilliseconds > 0,
            hasLinks: hasLinks, reachableShards: reachableShards,
            numbersAheadMilliseconds: store.context.areNumbersAhead ? store.context.numbersAheadMilliseconds : 0,
            nodes: nodes, servers: servers)
    }

    /// Describes the nodes of the last heartbeat, as of now.
    private func nodes(_ store: ClusterStore, at moment: MonotonicTime) -> [ClusterAPI.Node] {
        let elapsed = heartbeat.map { max(moment.milliseconds(since: $0.at), 0) } ?? 0
        return (heartbeat?.content.nodes ?? []).sorted { $0.instance.node < $1.instance.node }.map { row in
            var row = row
            row.heartbeatAgeMilliseconds += elapsed
            row.isLive = row.isLive && row.heartbeatAgeMilliseconds < NodeConfiguration.leaseMilliseconds
            return description(of: row, store)
        }
    }

    private func description(of row: ShardResult.Node, _ store: ClusterStore) -> ClusterAPI.Node {
        let isOwn = row.instance == instance
        let presence = isOwn ? store.presence : store.presences.presence(of: row.instance)
        return ClusterAPI.Node(
            name: row.name, number: row.instance.node.rawValue, instance: String(row.instance.rawValue, radix: 16),
            version: row.version, address: row.address, isLive: row.isLive,
            heartbeatAgeMilliseconds: row.heartbeatAgeMilliseconds, draining: row.draining.described,
            isLinkUp: isOwn ? nil : store.hasLink(to: row.instance),
            leaseMilliseconds: isOwn ? store.leaseMilliseconds : nil,
            clockDifferenceMilliseconds: presence?.clockDifferenceMilliseconds, commits: presence?.commits,
            deviceCount: presence.map { Int($0.connectionCount) })
    }
}

extension Draining {
    fileprivate var described: ClusterAPI.Node.Draining {
        switch self {
        case .no: .no
        case .draining: .draining
        case .drained: .drained
        }
    }
}
