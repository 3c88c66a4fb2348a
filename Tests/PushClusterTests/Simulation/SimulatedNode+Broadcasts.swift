// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushStore

@testable import PushCluster

/// The worker of a node, which stores and reads broadcasts on a connection of its own, one job after the other.
extension SimulatedNode {
    /// Takes the broadcast of a publisher.
    func publish(_ notification: Notification, to channel: ChannelNumber, isStored: Bool, answer: ReplyAddress) {
        turn { [self] store in
            store.publish(answer: answer) { [self] publication in
                let pending = PendingNotification(sequence: publication.number, notification: notification)
                perform { [self] in
                    simulation.shard.publish(PublishedBroadcast(pending, of: channel, isStored: isStored))
                } then: { store, broadcast in
                    guard let broadcast else { return store.refuse(publication, .serviceUnavailable) }
                    store.finish(publication, .published(broadcast))
                }
            }
        }
    }

    /// Reads the stored broadcasts that a heartbeat has named, and all of them after a start.
    func readBroadcasts(_ heartbeat: ShardResult.Heartbeat, _ store: ClusterStore) {
        let unknown = store.leastUnknownBroadcast(of: heartbeat.broadcasts)
        guard let first = hasReadBroadcasts ? unknown : 0 else { return }
        hasReadBroadcasts = true
        perform { [self] in
            simulation.shard.storedBroadcasts(from: first)
        } then: { store, broadcasts in
            store.take(stored: broadcasts ?? [])
        }
    }

    /// Performs a job of the worker, and then an action with its result; nil if the connection was lost.
    private func perform<Result>(
        _ job: @escaping () -> Result, then action: @escaping (ClusterStore, Result?) -> Void
    ) {
        let start = max(simulation.now, workerIsFreeAt)
        workerIsFreeAt = start + simulation.choice([1, 3, 10]) * (0.5 + simulation.chance())
        let (sender, end) = (instance, workerIsFreeAt)
        simulation.after(end - simulation.now) { [self] in
            guard sender == instance else { return }
            guard simulation.shard.isAvailable else {
                // The transaction may have been committed before its answer was lost.
                if simulation.chance() < 0.2 { _ = job() }
                return turn { action($0, nil) }
            }
            let result = job()
            turn { action($0, result) }
        }
    }
}
