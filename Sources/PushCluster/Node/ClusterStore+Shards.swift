// SPDX-License-Identifier: Apache-2.0

internal import PushNet
package import PushStore

/// The connections to shards, and the assignment of devices to them.
extension ClusterStore {
    /// Records that a connection to a shard is open.
    package func connected(toShard index: Int) { shards.queues[index].connected() }

    /// Records that the connection to a shard is lost, and queues the contents of the unanswered batch again.
    package func disconnected(fromShard index: Int) {
        let shard = shards.queues[index]
        let lost = shard.disconnected()
        host.connectionLost(to: shard)
        guard let lost else { return }
        askAgain(lost)
        // A stream that ended without an answer may have replaced a stream on another node, which must learn of this.
        for stream in lost.attachments where stream.hasEnded { shards[stream.device].announce(stream.device) }
    }

    /// Records that a shard refused a batch, and queues its contents again, to be sent after a pause.
    ///
    /// - Parameters:
    ///   - number: The number of the batch.
    ///   - index: The shard.
    ///   - heartbeat: The answer to the heartbeat; nil if the batch had none, or if the heartbeat was refused too.
    package func refused(_ number: Int64, byShard index: Int, heartbeat: ShardResult.Heartbeat?) {
        let shard = shards.queues[index]
        guard let refused = shard.refused(number) else { return }
        if let heartbeat { take(heartbeat, of: refused, from: shard) }
        host.askAgain(refused)
        askAgain(refused)
    }

    /// Adds everything in a batch except streams to the queues of the devices' present shards again.
    private func askAgain(_ lost: GatheredBatch) {
        for waiting in lost.writes.joined() { context.step(waiting, .write) }
        for looks in lost.looks {
            for look in looks {
                switch look {
                case .route(let waiting): context.step(waiting, .look)
                // The notification was not written yet. When its write is repeated, the host is looked up, too.
                case .written(let waiting) where waiting.writtenAt == nil: break
                case .written(let waiting): shards[waiting.device].look(look, waiting.device)
                case .stream(let stream): shards[stream.device].look(look, stream.device)
                // Without an answer, every node finds the change, or its lease ends.
                case .changed(let change): teller.giveUp(change)
                // With its next stream, the device reports again whether it saves power.
                case .saving: break
                }
            }
        }
        for row in lost.batch.deletions { shards[row.device].delete(row) }
        for acknowledgement in lost.batch.acknowledgements {
            shards[acknowledgement.device].acknowledge(acknowledgement)
        }
        for skip in lost.batch.skips { shards[skip.device].skip(skip) }
        for departure in lost.batch.departures { shards[departure.device].depart(departure) }
        for waiting in lost.announced { shards[waiting.device].announce(waiting.device, for: waiting) }
        for device in Set(lost.batch.changes).subtracting(lost.announced.map(\.device)) {
            shards[device].announce(device)
        }
    }

    /// Removes, once a second, entries that wait for shards and are no longer needed.
    func removeObsolete() {
        guard removalDue <= context.moment else { return }
        removalDue = context.moment.advanced(byMilliseconds: ClusterLimits.removalMilliseconds)
        for queue in shards.queues + [shards.parked] { queue.removeObsolete() }
        answers.removeObsolete()
    }

    // MARK: Moves

    /// Uses another assignment of devices to shards.
    ///
    /// Closes the streams of devices that move. Notifications for these devices wait until the move ends.
    package func set(_ slots: SlotMap) {
        guard slots != shards.slots else { return }
        // A stream that was opened during the move is registered when the move ends.
        for device in host.devices where !shards.slots.isMoving(device) {
            let isElsewhere = slots.shard(of: device) != shards.slots.shard(of: device)
            if isElsewhere || slots.isMoving(device) { _ = host.sendAway(device) }
        }
        for unsent in shards.set(slots) {
            host.askAgain(unsent)
            askAgain(unsent)
        }
        // While a device moves, accepted notifications for it wait as they do without a lease.
        answers.release()
    }

    /// Whether no statement is under way that was sent before the current assignment.
    package var hasSettled: Bool { shards.isSettled }
}
