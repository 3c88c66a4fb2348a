// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushSQL

/// Runs the periodic work: sweeps, last-seen times, and the record that the server runs.
final class SweepSchedule {
    private let committer: Committer
    private let executor: Executor
    private let dispatcher: Dispatcher
    /// The time of the next sweep.
    private(set) var next: MonotonicTime
    private var nextNote = MonotonicTime.now.advanced(byMilliseconds: WriterLimits.seenIntervalMilliseconds)
    /// The damaged rows that the next sweep deletes.
    private var damagedRows = DamagedRows()

    init(_ committer: Committer) {
        self.committer = committer
        executor = committer.executor
        dispatcher = committer.dispatcher
        next = .now.advanced(byMilliseconds: committer.configuration.sweepIntervalMilliseconds)
    }

    /// Adds a damaged row to those that the next sweep deletes; returns false for a broadcast that is among them.
    func add(_ row: StoredQueues.PendingRow, of device: DeviceID) -> Bool {
        next = .now
        if row.channel != nil { return damagedRows.broadcasts.insert(row.sequence).inserted }
        damagedRows.notifications.append(PendingTable.Removed(sequence: row.sequence, device: device, topic: row.topic))
        return true
    }

    /// Deletes expired rows and writes last-seen times, a bounded number in one step.
    func sweepIfDue() {
        let now = MonotonicTime.now
        guard now >= next else { return }
        next = now.advanced(byMilliseconds: committer.configuration.sweepIntervalMilliseconds)
        guard committer.failure == nil else { return }
        if now >= nextNote {
            nextNote = now.advanced(byMilliseconds: WriterLimits.seenIntervalMilliseconds)
            dispatcher.deliveryState.noteConnectedSeen()
            noteRunning([])
        }
        if sweep() { next = now }
    }

    /// Executes a step of a sweep; returns true when more rows are left.
    private func sweep() -> Bool {
        // Commit the pending writes first, because the sweep sees only rows.
        if dispatcher.nextDue != nil { committer.commit(.all) }
        let seen = dispatcher.deliveryState.takeSeen(countMax: WriterLimits.devicesNotedPerStepCountMax)
        var isMore = seen.count == WriterLimits.devicesNotedPerStepCountMax
        let isDone = committer.attempt { () throws(SQLError) in
            try executor.authentication.noteSeen(seen)
            if try executor.sweeper.sweep(damagedRows, isConnected: dispatcher.queues.isConnected) { isMore = true }
        }
        guard isDone else {
            dispatcher.deliveryState.noteSeen(seen)
            return false
        }
        damagedRows = DamagedRows()
        return isMore
    }

    /// Records that the server runs and that devices were connected.
    ///
    /// On a full disk, the earlier times stay.
    func noteRunning(_ seen: [(device: DeviceID, at: Timestamp)]) {
        guard committer.canWrite else { return }
        _ = committer.attempt { () throws(SQLError) in try executor.sweeper.noteRunning(seen) }
    }
}
