// SPDX-License-Identifier: Apache-2.0

internal import PushNet

extension ClusterStore {
    /// Finds in the rows of `nodes` whether an administrator wants this node to send its devices away.
    func noteDraining(_ nodes: [ShardResult.Node]) {
        guard let own = nodes.first(where: { $0.instance == context.instance }) else { return }
        isDraining = own.draining != .no
    }

    /// Sends the devices away if an administrator wants it, or if only other nodes can serve them.
    func decideAboutDevices() {
        let configuration = context.configuration
        if shards.haveLeases {
            suspendedSince = nil
        } else if suspendedSince == nil {
            suspendedSince = context.moment
        }
        let isCutOff = suspendedSince.map { since in
            context.moment.milliseconds(since: since) >= configuration.cutOffMilliseconds && presences.othersCommit
        }
        if isDraining {
            goodbyes.set(isOn: true, spreadOver: configuration.goodbyeMilliseconds)
        } else {
            // The devices may return when the node has a lease, and not when other nodes lose theirs too.
            let isOn = isCutOff ?? false || suspendedSince != nil && goodbyes.isOn
            goodbyes.set(isOn: isOn, spreadOver: configuration.cutOffGoodbyeMilliseconds)
        }
    }

    /// Describes this node for the others.
    static func presence(_ context: NodeContext, _ shards: ClusterShards, _ host: Host) -> NodeMessage.Presence {
        NodeMessage.Presence(
            commits: shards.haveLeases, controlVersion: context.controlVersion,
            connectionCount: UInt32(clamping: host.count),
            clockDifferenceMilliseconds: context.clockDifferenceMilliseconds)
    }

    /// Records whether all devices have left, and everything that was delivered to them is acknowledged or written.
    ///
    /// Later notifications of providers do not count: the node accepts them until it stops.
    func noteDrained() {
        let isDrained = goodbyes.emptySince.map { since in answers.oldestSince.map { $0 > since } ?? true } ?? false
        guard isDrained != context.isDrained else { return }
        context.isDrained = isDrained
        readNodesSoon()
    }

    /// Lets the node send a heartbeat at once, which reads the states of nodes and records that of this node.
    func readNodesSoon() { shards.first.beatSoon() }

    /// Whether all requests to this node are complete, so that nothing waits for it when it stops.
    var isIdle: Bool { host.count == 0 && context.waitingCount == 0 && shards.queues.allSatisfy(\.isIdle) }
}
