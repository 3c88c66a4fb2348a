// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushStore

/// Broadcasts, which a worker stores before all nodes deliver them.
extension ClusterStore {
    /// Numbers a broadcast before it is stored; answers it and returns nil while the node has no time of the shard.
    package func beginPublication(answer: ReplyAddress) -> Publication? { publisher.begin(answer) }

    /// Delivers a broadcast on all nodes, then answers its provider.
    ///
    /// - Parameters:
    ///   - publication: The waiting provider.
    ///   - broadcast: The broadcast, which is committed if its channel stores it; nil if it has expired.
    package func finish(_ publication: Publication, _ broadcast: PublishedBroadcast?) {
        if broadcast?.isStored != true { context.counters.noteExpired() }
        let group = ChangeGroup()
        if let broadcast {
            host.deliver(broadcast)
            teller.tell(broadcast, group)
        }
        group.whenApplied { [publisher] in publisher.finish(publication) }
    }

    package func refuse(_ publication: Publication, _ reason: RejectionReason) {
        publisher.refuse(reason, publication.answer)
    }

    /// Takes stored broadcasts that this node may not know.
    package func take(stored broadcasts: [PublishedBroadcast]) {
        host.stored.removeExpired(now: context.now)
        for broadcast in broadcasts { host.deliver(broadcast) }
    }

    /// Returns the least of some numbers of stored broadcasts that this node does not know.
    package func leastUnknownBroadcast(of numbers: [Int64]) -> Int64? {
        numbers.filter { host.stored.channel(of: $0) == nil }.min()
    }
}
