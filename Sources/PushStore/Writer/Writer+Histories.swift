// SPDX-License-Identifier: Apache-2.0

internal import PushSQLite

extension Writer {
    /// Writes the next changed delivery histories when a step is due.
    func writeHistoriesIfDue() {
        let histories = executor.histories
        guard let due = histories.nextWrite, failure == nil else { return }
        let now = MonotonicTime.now
        guard due <= now else { return }
        // A full disk has no space for the histories, so they wait in memory.
        guard reserve.isHeld else { return histories.postpone(at: now) }
        if !writeHistories(at: now) { histories.postpone(at: now) }
    }

    /// Writes all changed delivery histories, unless the disk is full.
    func writeAllHistories() {
        while failure == nil, reserve.isHeld, executor.histories.hasUnwritten {
            guard writeHistories(at: .now) else { return }
        }
    }

    private func writeHistories(at moment: MonotonicTime) -> Bool {
        let histories = executor.histories
        let step = histories.beginStep(at: moment)
        guard attempt({ () throws(SQLiteError) in try histories.write(step) }) else { return false }
        histories.confirm(step)
        return true
    }
}
