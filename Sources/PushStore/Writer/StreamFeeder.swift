// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Reads pending notifications from the tables for streams that have capacity.
final class StreamFeeder {
    private let committer: Committer
    private let dispatcher: Dispatcher
    private let storedQueues: StoredQueues
    private let sweep: SweepSchedule

    init(_ committer: Committer, _ sweep: SweepSchedule) {
        self.committer = committer
        dispatcher = committer.dispatcher
        storedQueues = committer.executor.storedQueues
        self.sweep = sweep
    }

    /// Reads the next notifications for streams with capacity, a bounded number in all.
    func feedStreams() {
        var rowCount = 0
        while committer.failure == nil, dispatcher.deliveryState.streams.anyNeedsRefill,
            rowCount < WriterLimits.rowsReadPerTurnCountMax
        {
            for queue in dispatcher.deliveryState.streams.takeNeedingRefill() {
                if rowCount >= WriterLimits.rowsReadPerTurnCountMax || committer.failure != nil {
                    dispatcher.deliveryState.streams.postpone(queue)
                } else if let stream = queue.stream, stream.needsRefill {
                    rowCount += feed(queue, stream)
                }
            }
        }
    }

    private func feed(_ queue: DeviceQueue, _ stream: DeviceStream) -> Int {
        do {
            let found = try storedQueues.pendingRows(
                of: queue.device, isSubscriber: !queue.channels.isEmpty, after: stream.lastSent,
                now: dispatcher.now, countMax: stream.space,
                isGone: { dispatcher.deletions.isGone($0, for: queue.device) })
            var read: [PendingNotification] = []
            for row in found.rows {
                if let notification = row.notification {
                    read.append(notification)
                } else {
                    noteDamage(row, queue.device)
                }
            }
            dispatcher.deliveryState.refill(queue, read, through: found.last, isComplete: found.isComplete)
            return found.rows.count
        } catch {
            committer.fail(StoreError(error, path: committer.configuration.path))
            return 0
        }
    }

    /// Skips a row with a wrong checksum and reports it; the next sweep deletes it.
    private func noteDamage(_ row: StoredQueues.PendingRow, _ device: DeviceID) {
        let isNew = sweep.add(row, of: device)
        // Every subscriber's stream reads the same row of a broadcast, so report it once.
        if isNew { committer.configuration.onNotice(.damagedRow(sequence: row.sequence)) }
    }
}
