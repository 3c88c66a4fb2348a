// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

extension Executor {
    /// Reads the next of a device's queue, its own notifications and broadcasts, in the order of their sequences.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - isListener: Whether broadcasts may be there.
    ///   - sequence: Those behind this one.
    ///   - now: UNIX milliseconds; expired ones are left out.
    ///   - countMax: At most so many.
    ///   - takeRow: Gets each, and whether its checksum is right.
    /// - Throws: What SQLite answered.
    func forEachWaiting(
        of device: DeviceID, isListener: Bool, after sequence: Int64, now: Int64, countMax: Int,
        _ takeRow: (PendingNotification, _ isIntact: Bool) -> Void
    ) throws(SQLiteError) {
        var waiting: [(pending: PendingNotification, isIntact: Bool)] = []
        if isListener {
            try broadcasts.forEachWaiting(of: device, after: sequence, now: now, countMax: countMax) {
                waiting.append(($0, $1))
            }
        }
        var (rowCount, nextBroadcast) = (0, 0)
        func take(_ pending: PendingNotification, _ isIntact: Bool) {
            if rowCount < countMax { takeRow(pending, isIntact) }
            rowCount += 1
        }
        func takeBroadcasts(before sequence: Int64) {
            while nextBroadcast < waiting.count, waiting[nextBroadcast].pending.sequence < sequence {
                take(waiting[nextBroadcast].pending, waiting[nextBroadcast].isIntact)
                nextBroadcast += 1
            }
        }
        // Each of the two gives its first ones, and together they have the first ones of both.
        try pending.forEachWaiting(of: device, after: sequence, now: now, countMax: countMax) { pending, isIntact in
            takeBroadcasts(before: pending.sequence)
            take(pending, isIntact)
        }
        takeBroadcasts(before: .max)
    }
}
