// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Rows with a wrong checksum, to be deleted.
struct Damage {
    var notifications: [PendingTable.Removed] = []
    /// The sequences of damaged broadcasts.
    var broadcasts: Set<Int64> = []
}

extension Executor {
    // MARK: Automatic expiration

    /// Deletes damaged and expired rows, and expires registrations; a bounded number in one step.
    ///
    /// - Parameters:
    ///   - damage: The damaged rows.
    ///   - isConnected: Returns whether a device's stream is open. A connected device counts as seen now.
    /// - Returns: Whether more rows may be left.
    /// - Throws: The error that SQLite returned.
    func sweep(_ damage: Damage, isConnected: (DeviceID) -> Bool) throws(SQLiteError) -> Bool {
        let countMax = WriterLimits.rowsSweptPerStepCountMax
        note(try removeWaiting(damage.notifications), .dropped, .damaged)
        for sequence in damage.broadcasts { note(try broadcasts.remove(sequence), .dropped) }
        let retention = Limits.retentionSecondsMax * 1000
        var expired = try removeWaiting(try pending.expired(now: now, countMax: countMax))
        expired += try removeWaiting(
            try pending.accepted(before: now.subtractingReportingOverflow(retention).partialValue, countMax: countMax))
        note(expired, .expired)
        let expiredBroadcasts = try broadcasts.removeExpired(now: now, countMax: countMax)
        note(expiredBroadcasts, .expired)
        try enrolmentCodes.deleteExpired(now: now)
        let isMoreUnseen = try expireUnseen(isConnected: isConnected)
        let isMoreTrace = try trimTrace()
        return isMoreTrace || expired.count >= countMax || expiredBroadcasts.count == countMax || isMoreUnseen
    }

    /// Expires the registrations of devices that were unseen for too long; returns true when more may be left.
    private func expireUnseen(isConnected: (DeviceID) -> Bool) throws(SQLiteError) -> Bool {
        guard let moment = momentOfUnseen else { return false }
        let unseen = try devices.unseen(since: moment, countMax: WriterLimits.devicesSweptPerStepCountMax)
        var rowCount = 0
        for device in unseen {
            if isConnected(device) {
                try devices.noteSeen(device, now: now)
            } else {
                rowCount += try endRegistrations(of: device, asExpired: true)
                try devices.noteDormant(device)
            }
            // One device may have very many rows, so the rest waits for the next step.
            if rowCount >= WriterLimits.rowsSweptPerStepCountMax { return true }
        }
        return unseen.count == WriterLimits.devicesSweptPerStepCountMax
    }

    /// The time before which an unseen device expires; nil while no device expires.
    private var momentOfUnseen: Int64? {
        guard let life = bounds.registrationLifeSeconds else { return nil }
        let (milliseconds, isTooLong) = max(life, 0).multipliedReportingOverflow(by: 1000)
        let (moment, isBeforeTime) = now.subtractingReportingOverflow(milliseconds)
        return isTooLong || isBeforeTime || now < returnEndUnixMilliseconds ? nil : moment
    }

    /// Returns the end of the time that devices have to reconnect after a start, in UNIX milliseconds.
    ///
    /// No device can be seen while the server is stopped. After a long stop, or with an old backup, devices have a day,
    /// or the time that they may be unseen if it is shorter.
    ///
    /// - Parameters:
    ///   - now: The current time in UNIX milliseconds.
    ///   - lastRunning: The last recorded running time; nil when unknown.
    ///   - bounds: The settings.
    /// - Returns: The end of the time; `now` after a short stop.
    static func returnEnd(now: Int64, lastRunning: Int64?, _ bounds: Bounds) -> Int64 {
        if let lastRunning {
            let (pause, isHuge) = now.subtractingReportingOverflow(lastRunning)
            if !isHuge, pause <= 2 * WriterLimits.seenIntervalMilliseconds { return now }
        }
        let life = max(bounds.registrationLifeSeconds ?? .max, 0).multipliedReportingOverflow(by: 1000)
        let patience = life.overflow ? WriterLimits.returnMilliseconds : life.partialValue
        let (end, isAfterTime) = now.addingReportingOverflow(min(patience, WriterLimits.returnMilliseconds))
        return isAfterTime ? .max : end
    }

    // MARK: Last-seen times

    /// Records that the server runs now, and that devices are connected now.
    func noteRunning(_ seen: [DeviceID]) throws(SQLiteError) {
        try state.noteRunning(now: now)
        try noteSeen(seen)
    }

    /// Records that devices are connected now.
    func noteSeen(_ seen: [DeviceID]) throws(SQLiteError) {
        for device in seen { try devices.noteSeen(device, now: now) }
    }

    /// Returns the live device that has a secret; records that it was seen, unless its last-seen time is recent.
    func identify(_ secretHash: [UInt8]) throws(SQLiteError) -> DeviceID? {
        guard let identity = try devices.authenticate(secretHash) else { return nil }
        // A full disk must not be used for last-seen times.
        if allowance == .growing, isStale(identity, now: now) { try devices.noteSeen(identity.device, now: now) }
        return identity.device
    }

    /// Returns whether a device's recorded last-seen time is too old, or in the future because the clock was wrong.
    func isStale(_ identity: DeviceTable.Identity, now: Int64) -> Bool {
        guard let seen = identity.seenUnixMilliseconds, !identity.isDormant, seen <= now else { return true }
        let (age, isHuge) = now.subtractingReportingOverflow(seen)
        return isHuge || age >= WriterLimits.seenIntervalMilliseconds(life: bounds.registrationLifeSeconds)
    }
}

extension Executor {
    /// Writes a step of an archiving run, and its end.
    func settle(_ rows: [Compaction.Row], through end: Int64?) throws(SQLiteError) {
        for row in rows {
            try settled.add(
                ArchiveTable.Row(sequence: row.entry.sequence, topic: row.entry.topic), of: row.card.device,
                collapse: row.entry.collapse)
        }
        if let end { try state.setSettledThrough(end) }
    }
}
