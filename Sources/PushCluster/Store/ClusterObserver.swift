// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushNet
internal import PushPostgres
internal import PushStore

/// Keeps what the node's thread learns about the cluster, for administrators.
struct ClusterObserver {
    private let instance: InstanceID
    private let node: String
    private let hasLinks: Bool
    private var heartbeat: (content: ShardResult.Heartbeat, at: MonotonicTime)?
    /// The reasons why shards cannot be used; nil for a shard that can.
    private var shardProblems: [String?]

    init(_ instance: InstanceID, _ configuration: PostgresStoreConfiguration) {
        self.instance = instance
        node = configuration.node
        hasLinks = configuration.links != nil
        shardProblems = configuration.addresses.map { _ in "no connection was opened yet. Wait a moment." }
    }

    /// The reason why a shard cannot be used; nil while all can.
    private var connectionProblem: String? {
        for (shard, problem) in shardProblems.enumerated() {
            if let problem { return shardProblems.count > 1 ? "shard \(shard): \(problem)" : problem }
        }
        return nil
    }

    var hasProblem: Bool { connectionProblem != nil }

    mutating func setProblem(_ problem: String?, ofShard shard: Int) { shardProblems[shard] = problem }

    mutating func note(_ heartbeat: ShardResult.Heartbeat, at moment: MonotonicTime) {
        self.heartbeat = (heartbeat, moment)
    }

    /// Describes the cluster at a time.
    ///
    /// - Parameters:
    ///   - store: The store, in a turn.
    ///   - slots: The shards of all devices.
    ///   - servers: The properties of the shards; nil for those that are not known.
    ///   - moment: The current time.
    /// - Returns: The answer for administrators.
    func report(
        _ store: ClusterStore, _ slots: SlotMap, _ servers: [ServerState?], at moment: MonotonicTime
    ) -> ClusterAPI.Status {
        let elapsed = heartbeat.map { max(moment.milliseconds(since: $0.at), 0) } ?? 0
        let nodes = (heartbeat?.content.nodes ?? []).sorted { $0.instance.node < $1.instance.node }.map { row in
            var row = row
            row.heartbeatAgeMilliseconds += elapsed
            row.isLive = row.isLive && row.heartbeatAgeMilliseconds < NodeConfiguration.leaseMilliseconds
            return description(of: row, store)
        }
        let problems = ClusterProblems(
            node: node, connectionProblem: connectionProblem, hasLease: store.leaseMilliseconds > 0,
            hasLinks: hasLinks,
            numbersAheadMilliseconds: store.context.areNumbersAhead ? store.context.numbersAheadMilliseconds : 0,
            nodes: nodes, servers: servers)
        let shards = shardProblems.enumerated().map { number, problem in
            var shard = ClusterAPI.Shard(
                number: number, slotCount: slots.slotCount(of: number), isConnected: problem == nil)
            if servers.indices.contains(number), let server = servers[number] { shard.set(server) }
            shard.absentNodes = problems.absentNodes(ofShard: number)
            return shard
        }
        return ClusterAPI.Status(node: node, nodes: nodes, shards: shards, problems: problems.list)
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

/// The state of PostgreSQL when it was asked.
struct ServerState: Sendable {
    var facts: PostgresServerFacts
    /// The names of the nodes that had a heartbeat at this server in the last ten seconds.
    var liveNodes: Set<String>
    /// The age of the oldest transaction of any program; nil without one.
    var oldestTransactionSeconds: Int64?
}

extension ClusterAPI.Shard {
    fileprivate mutating func set(_ server: ServerState) {
        let facts = server.facts
        version = "\(facts.version / 10_000).\(facts.version % 10_000)"
        isPrimary = !facts.isInRecovery
        synchronousStandbyNames = facts.synchronousStandbyNames
        synchronousStandbyCount = facts.synchronousStandbyCount
        synchronousCommit = facts.synchronousCommit
        usesTLS = facts.usesTLS
        oldestTransactionSeconds = server.oldestTransactionSeconds
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
