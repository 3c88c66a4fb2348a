// SPDX-License-Identifier: Apache-2.0

internal import PushPostgres
internal import PushSQL
internal import PushStore

/// The registration of a node in all shards when it starts.
struct ClusterRegistration {
    /// The assignment of slots to shards.
    let slots: SlotMap
    /// The databases that this node uses.
    let databases: ShardDatabases
    private let configuration: PostgresStoreConfiguration
    private let shards: [NodeRegistration]

    /// Connects to all shards, and checks that they belong to one cluster.
    init(_ configuration: PostgresStoreConfiguration) throws(PostgresStoreError) {
        self.configuration = configuration
        var shards: [NodeRegistration] = []
        for address in configuration.addresses { shards.append(try NodeRegistration(configuration, at: address)) }
        self.shards = shards
        var wrongShard: Int?
        var numbers: [Int64?] = []
        do throws(SQLError) {
            let cluster = try shards[0].connection.identity(ofShard: 0).cluster
            for (index, shard) in shards.enumerated() where wrongShard == nil {
                // Another database, even an empty one, must not take the place of the one that has the devices.
                guard try !shards[0].connection.excludes(shard.connection, asShard: index),
                    try shard.connection.identity(ofShard: index, of: cluster)
                        == ShardIdentity(cluster: cluster, shard: index)
                else {
                    wrongShard = index
                    continue
                }
                numbers.append(try shards[0].connection.include(shard.connection, asShard: index))
            }
            if wrongShard == nil { try shards[0].connection.assignSlots(shardCount: shards.count) }
            slots = try shards[0].connection.slots()
            databases = ShardDatabases(numbers: numbers)
        } catch {
            throw .unreachable(error)
        }
        if let wrongShard { throw .wrongShard(wrongShard) }
        guard slots.shardCount <= shards.count else { throw .missingShard(slots.shardCount - 1) }
    }

    /// Registers a new instance of this node in all shards, with the node's earlier number or a new one.
    func register() throws(PostgresStoreError) -> InstanceID {
        let instance = try shards[0].register()
        for shard in shards.dropFirst() { try shard.register(instance) }
        return instance
    }
}
