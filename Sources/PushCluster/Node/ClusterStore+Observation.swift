// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

extension ClusterStore {
    /// The rest of the lease of shard 0 in milliseconds; 0 without one.
    var leaseMilliseconds: Int64 {
        guard let shard = shards.first, shard.hasLease else { return 0 }
        return shard.lease.end.milliseconds(since: context.moment)
    }

    /// The time by which this machine's clock is ahead of PostgreSQL's, in milliseconds; nil before an answer.
    var clockDifferenceMilliseconds: Int64? {
        guard context.ids.clock.isKnown else { return nil }
        return context.now.unixMilliseconds - context.ids.clock.latest(at: context.moment) / 1_000
    }

    func hasLink(to instance: InstanceID) -> Bool { context.links.contains(instance) }
}
