// SPDX-License-Identifier: Apache-2.0

package import PushNet
package import PushPostgres
package import PushSQL
package import PushStore

/// The reason why a store in PostgreSQL could not be opened, or why its node must exit.
package enum PostgresStoreError: Error, Sendable {
    /// No server could be reached, or it refused the connection or a statement.
    case unreachable(SQLError)
    /// The server is a standby or too old, or its settings do not protect committed data.
    case unsafe(PostgresFinding)
    /// The tables could not be created or have another version.
    case schema(StoreError)
    /// Another node with this name runs.
    case nameTaken(String)
    /// Another node runs, and one of the two has no address for links.
    case unlinked
    /// The kernel has no descriptor for the mailbox of the store.
    case noDescriptor(NetError)
    /// All numbers of nodes are taken.
    case tooManyNodes
    /// As many other nodes run as a cluster can have.
    case clusterIsFull
    /// The table `nodes` does not have this instance: the node was started again, or was removed.
    case superseded(String)
    /// The database is that of another shard or of another cluster, or the cluster uses another one for this shard.
    case wrongShard(Int)
    /// Devices are in a shard that the configuration does not name.
    case missingShard(Int)
}

extension PostgresStoreError: StoreFailure {
    package var exitStatus: Int32 {
        switch self {
        case .unreachable, .schema: 69
        case .noDescriptor: 71
        case .nameTaken, .superseded: 75
        case .unsafe, .tooManyNodes, .clusterIsFull, .unlinked, .wrongShard, .missingShard: 78
        }
    }

    /// A description of the problem and of the action that it requires.
    package var description: String {
        switch self {
        case .unreachable(let error):
            "Cannot use PostgreSQL: \(error.messageWithAdvice)"
        case .unsafe(let finding): "\(finding)"
        case .schema(let error): error.description
        case .nameTaken(let name):
            "Another node with the name \(name) runs. Give this node another name with [cluster] node, or stop the other one."
        case .superseded(let name):
            """
            The node \(name) was removed from the cluster, or was started a second time. \
            Start only one server with this name in [cluster] node.
            """
        case .unlinked:
            "Another node uses the same PostgreSQL. Set [cluster] address on every node, so that they can connect to each other."
        case .noDescriptor(let error): "\(error). Raise the limit of open files."
        case .wrongShard(let shard):
            """
            The database of shard \(shard) is not the one that the cluster uses. \
            Compare [store] url and [cluster] shards with those of the other nodes.
            """
        case .missingShard(let shard):
            """
            Devices are in shard \(shard), or were there a minute ago, but [cluster] shards does not name it. \
            Add its address there, as on the other nodes.
            """
        case .clusterIsFull:
            """
            The cluster already has \(LinkSettings.nodeCountMax) nodes, which is the maximum. \
            Stop one of them, and start this node a minute later.
            """
        case .tooManyNodes:
            "All \(NodeNumber.count) numbers of nodes are taken. Remove nodes that no longer exist with 'posthorn cluster remove'."
        }
    }
}
