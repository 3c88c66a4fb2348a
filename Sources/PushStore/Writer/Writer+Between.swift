// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

extension Writer {
    // MARK: Streams

    /// Reads the next notifications for streams with capacity, a bounded number in all.
    func feedStreams() {
        var rowCount = 0
        while failure == nil, dispatcher.deliveryState.streams.anyNeedsRefill,
            rowCount < WriterLimits.rowsReadPerTurnCountMax
        {
            for device in dispatcher.deliveryState.takeNeedingRefill() {
                if rowCount >= WriterLimits.rowsReadPerTurnCountMax || failure != nil {
                    dispatcher.deliveryState.postpone(device)
                } else if let stream = dispatcher.deliveryState.streams.hungryStream(of: device) {
                    rowCount += feed(device, stream)
                }
            }
        }
    }

    private func feed(_ device: DeviceID, _ stream: DeliveryWindow) -> Int {
        do {
            let found = try executor.queues.waiting(
                of: device, isListener: dispatcher.deliveryState.listens(device), after: stream.lastSent,
                now: dispatcher.now, countMax: stream.space, isGone: { dispatcher.isGone($0, for: device) })
            var read: [PendingNotification] = []
            for row in found.rows {
                if let notification = row.notification { read.append(notification) } else { noteDamage(row, device) }
            }
            dispatcher.deliveryState.refill(device, read, through: found.last, isComplete: found.isComplete)
            return found.rows.count
        } catch {
            fail(StoreError(error, path: configuration.path))
            return 0
        }
    }

    /// Skips a row with a wrong checksum and reports it; the next sweep deletes it.
    private func noteDamage(_ row: StoredQueues.WaitingRow, _ device: DeviceID) {
        nextSweep = .now
        if row.channel != nil {
            // Every subscriber's stream reads the same row, so report it once.
            guard damage.broadcasts.insert(row.sequence).inserted else { return }
        } else {
            damage.notifications.append(
                PendingTable.Removed(sequence: row.sequence, device: device, topic: row.topic))
        }
        configuration.onNotice(.damagedRow(sequence: row.sequence))
    }

    // MARK: Archiving

    /// Archives the next recent notifications, once there are too many.
    func settleIfMany() {
        guard failure == nil, reserve.isHeld else { return }
        if settling == nil, dispatcher.cards.recentCount > configuration.recentCountMax {
            settling = Compaction(dispatcher.cards, through: dispatcher.lastWritten)
        }
        guard var run = settling else { return }
        let step = run.takeStep()
        let isDone = attempt { () throws(SQLiteError) in try executor.queues.archive(step, through: run.end) }
        guard isDone else {
            // The rows stay recent, and a later run finds them again.
            settling = nil
            return
        }
        for row in step { dispatcher.cards.noteArchived(row) }
        settling = run.end == nil ? run : nil
    }

    // MARK: Sweeping

    /// Deletes expired rows and writes last-seen times, a bounded number in one step.
    func sweepIfDue() {
        let now = MonotonicTime.now
        guard now >= nextSweep else { return }
        nextSweep = now.advanced(byMilliseconds: configuration.sweepIntervalMilliseconds)
        guard failure == nil else { return }
        if now >= nextNote {
            nextNote = now.advanced(byMilliseconds: WriterLimits.seenIntervalMilliseconds)
            dispatcher.deliveryState.noteSeen(dispatcher.deliveryState.streams.openDevices)
            noteRunning([])
        }
        if sweep() { nextSweep = now }
    }

    /// Executes a step of a sweep; returns true when more rows are left.
    private func sweep() -> Bool {
        // Commit the pending writes first, because the sweep sees only rows.
        if dispatcher.nextDue != nil { commit(.all) }
        let seen = dispatcher.deliveryState.takeDeparted(countMax: WriterLimits.devicesNotedPerStepCountMax)
        var isMore = seen.count == WriterLimits.devicesNotedPerStepCountMax
        let isDone = attempt { () throws(SQLiteError) in
            try executor.authentication.noteSeen(seen)
            if try executor.sweeper.sweep(damage, isConnected: dispatcher.deliveryState.streams.isOpen) {
                isMore = true
            }
        }
        guard isDone else {
            dispatcher.deliveryState.noteSeen(seen)
            return false
        }
        damage = Damage()
        return isMore
    }

    /// Records that the server runs and that devices were connected.
    ///
    /// On a full disk, the earlier times stay.
    func noteRunning(_ seen: [DeviceID]) {
        guard failure == nil, reserve.isHeld else { return }
        _ = attempt { () throws(SQLiteError) in try executor.sweeper.noteRunning(seen) }
    }
}
