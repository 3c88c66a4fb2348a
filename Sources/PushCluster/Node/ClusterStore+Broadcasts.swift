// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
package import PushCore
package import PushStore

/// Broadcasts, which a worker stores before all nodes deliver them.
extension ClusterStore {
    /// Numbers a broadcast and lets it be stored, as soon as the node may use its control data.
    package func publish(answer: ReplyAddress, _ run: @escaping (Publication) -> Void) { publisher.begin(answer, run) }

    /// Delivers a broadcast on all nodes, then answers its provider.
    ///
    /// A broadcast that its channel does not store counts as expired at once, because it waits for no device.
    ///
    /// - Parameters:
    ///   - publication: The waiting provider.
    ///   - result: The result of the transaction, which has stored the broadcast if its channel does.
    package func finish(_ publication: Publication, _ result: PostgresRequests.PublishResult) {
        switch result {
        case .refused(let reason): refuse(publication, reason)
        case .expired(let pending):
            context.counters.noteExpired()
            trace([.expired], of: pending)
            publisher.finish(publication)
        case .published(let broadcast):
            if !broadcast.isStored { context.counters.noteExpired() }
            trace(broadcast.isStored ? [.stored] : [], of: broadcast.pending)
            let group = ChangeGroup()
            host.deliver(broadcast)
            teller.tell(broadcast, group)
            group.whenApplied { [publisher] in publisher.finish(publication) }
        }
    }

    private func trace(_ steps: [TraceStep], of pending: PendingNotification) {
        context.trace?.recordAccepted(pending, isAgain: false, at: context.nextTraceTime())
        for step in steps { context.trace?.record(step, of: pending, at: context.nextTraceTime()) }
    }

    package func refuse(_ publication: Publication, _ reason: RejectionReason) {
        publisher.refuse(publication, reason)
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
