// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// The assignment of devices to shards, and its changes.
extension ClusterThread {
    /// Uses a new assignment of devices to shards, and confirms it when all work under the former one is done.
    ///
    /// Ends the node if devices have moved to a database that the node does not use.
    func use(
        _ new: SlotMap, of databases: ShardDatabases, version: Int64, _ group: ChangeGroup?, _ store: ClusterStore
    ) {
        guard slots.withLock({ $0 }) != new, version >= Int64(directoryVersion ?? 0) else {
            return settlement?.add(group) ?? ()
        }
        guard new.shardCount <= configuration.addresses.count else {
            return fail(.missingShard(new.shardCount - 1))
        }
        if let shard = self.databases.firstDifference(from: databases, in: new) { return fail(.wrongShard(shard)) }
        slots.withLock { $0 = new }
        store.set(new)
        let former = settlement?.formerVersion ?? Int64(directoryVersion ?? 0)
        settlement = SlotSettlement(after: former, workers.submitToAll(.confirm), settlement)
        settlement?.add(group)
    }

    func settleSlots(_ store: ClusterStore) {
        guard store.hasSettled, let done = settlement, done.isConfirmed else { return }
        settlement = nil
        done.end()
        answerControl(store)
    }

    // MARK: Moves

    /// Makes a step of a move.
    ///
    /// - Parameters:
    ///   - step: The step.
    ///   - answer: The address for the answer to the administrator; nil if nobody waits for an answer.
    func moveSlots(_ step: SlotMover.Step, _ answer: ReplyAddress?) {
        if case .begin = step { isMovingSlots = true }
        guard !workers.mover.submit(.moveSlots(step, answer: answer)) else { return }
        isMovingSlots = false
        if let answer { reply(.performed(.failure(.busy), answer: answer), to: answer) }
    }

    /// Waits until all nodes have confirmed the last step of a move, and makes the next step or answers.
    func take(_ outcome: SlotMover.Outcome, in group: ChangeGroup?, answer: ReplyAddress?) {
        let proceed = { [weak self] in
            guard let self else { return }
            if case .next(let step) = outcome { return moveSlots(step, answer) }
            if answer != nil { isMovingSlots = false }
            // This node ends a failed move at once, before other nodes treat the move as abandoned.
            if case .failed = outcome, slots.withLock(\.hasMoving) { moveSlots(.finish, nil) }
            guard let answer else { return }
            switch outcome {
            case .done, .next: reply(.performed(.success(.done), answer: answer), to: answer)
            case .refused(let refusal), .failed(let refusal):
                reply(.performed(.failure(refusal), answer: answer), to: answer)
            }
        }
        guard let group else { return proceed() }
        group.whenApplied(proceed)
    }

    /// Ends a move whose node has stopped, and cleans up after moves that are complete.
    func endAbandonedMove() {
        let (hasMoving, hasLeftovers) = slots.withLock { ($0.hasMoving, $0.hasLeftovers) }
        if hasMoving, !isMovingSlots {
            let since = slotsMoveSince ?? .now
            slotsMoveSince = since
            if since.advanced(byMilliseconds: ClusterLimits.slotMoveMilliseconds) <= .now {
                slotsMoveSince = nil
                moveSlots(.finish, nil)
            }
        } else {
            slotsMoveSince = nil
        }
        if hasLeftovers, !hasMoving, cleanDue <= .now {
            cleanDue = MonotonicTime.now.advanced(byMilliseconds: configuration.cleanMilliseconds)
            moveSlots(.clean, nil)
        }
    }
}
