// SPDX-License-Identifier: Apache-2.0

internal import PushNet

extension ClusterStore {
    /// Finds in the rows of `nodes` whether an administrator wants this node to send its devices away.
    func noteDraining(_ nodes: [ShardResult.Node]) {
        guard let own = nodes.first(where: { $0.instance == context.instance }) else { return }
        goodbyes.set(isOn: own.draining != .no)
    }

    /// Notices whether no device is left, and nothing that was delivered to one still waits to be written.
    ///
    /// Later notifications of providers do not count: the node accepts them until it stops.
    func noteDrained() {
        let isDrained = goodbyes.emptySince.map { since in answers.oldestSince.map { $0 > since } ?? true } ?? false
        guard isDrained != context.isDrained else { return }
        context.isDrained = isDrained
        readNodesSoon()
    }

    /// Lets the node read and tell the state of nodes at once.
    func readNodesSoon() { shards.first?.beatSoon() }

    /// Whether everything that was asked of this node is done, so that it can stop without a loss of time for others.
    var isIdle: Bool { host.count == 0 && context.waitingCount == 0 && shards.allSatisfy(\.isIdle) }
}
