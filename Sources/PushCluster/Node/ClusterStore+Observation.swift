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

extension NodeContext {
    /// The time by which this machine's clock is ahead of PostgreSQL's, in milliseconds; nil before an answer.
    var clockDifferenceMilliseconds: Int64? {
        guard ids.clock.isKnown else { return nil }
        return now.unixMilliseconds - ids.clock.latest(at: moment) / 1_000
    }

    /// Notes whether the clocks of the machine and of PostgreSQL differ too much to accept or deliver anything.
    func judgeClock() {
        let difference = clockDifferenceMilliseconds ?? 0
        isClockWrong = difference.magnitude > configuration.clockDifferenceMillisecondsMax.magnitude
    }
}
