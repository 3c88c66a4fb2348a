// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

extension ClusterStore {
    /// The rest of the lease of shard 0 in milliseconds; 0 without one.
    var leaseMilliseconds: Int64 {
        guard shards.first.hasLease else { return 0 }
        return shards.first.lease.end.milliseconds(since: context.moment)
    }

    /// The state of this node.
    var presence: NodeMessage.Presence { Self.presence(context, shards, host) }

    func hasLink(to instance: InstanceID) -> Bool { context.links.contains(instance) }
}
