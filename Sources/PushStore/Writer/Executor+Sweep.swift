// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Rows whose checksum was wrong, to be deleted.
struct Damage {
    var notifications: [PendingTable.Removed] = []
    /// By sequence.
    var broadcasts: Set<Int64> = []
}

extension Executor {
    // MARK: What expires by itself

    /// Deletes damaged rows and what expired, and lets registrations expire; a bounded number in one step.
    ///
    /// - Parameters:
    ///   - damage: What to delete too.
    ///   - isConnected: Whether a device's stream is open: then it is seen now, however long ago it came.
    /// - Returns: Whether there is more to do.
    /// - Throws: What SQLite answered.
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

    /// Lets the registrations of devices expire that were not seen for long; true when there may be more.
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
            // One device may hold very much; the rest waits for the next step.
            if rowCount >= WriterLimits.rowsSweptPerStepCountMax { return true }
        }
        return unseen.count == WriterLimits.devicesSweptPerStepCountMax
    }

    /// Who was not seen since then is not expected any more; nil when everybody is, for ever or for now.
    private var momentOfUnseen: Int64? {
        guard let life = bounds.registrationLifeSeconds else { return nil }
        let (milliseconds, isTooLong) = max(life, 0).multipliedReportingOverflow(by: 1000)
        let (moment, isBeforeTime) = now.subtractingReportingOverflow(milliseconds)
        return isTooLong || isBeforeTime || now < returnEndUnixMilliseconds ? nil : moment
    }

    /// Until when devices have time to come back after a start.
    ///
    /// While the server did not run, nobody could be seen: after a long stop, or with the file of an old backup, devices
    /// have a day, or as long as they may be unseen if that is shorter.
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

    func expireDevice(_ device: DeviceID) throws(SQLiteError) -> Verdict {
        guard try isLive(device) else { return .failure(.unknownDevice) }
        _ = try endRegistrations(of: device, asExpired: true)
        return .success(.done)
    }

    // MARK: Who was seen

    /// Writes down that the server ran up to now, and that devices were connected.
    func noteRunning(_ seen: [DeviceID]) throws(SQLiteError) {
        try state.noteRunning(now: now)
        try noteSeen(seen)
    }

    /// Writes down that devices were connected up to now.
    func noteSeen(_ seen: [DeviceID]) throws(SQLiteError) {
        for device in seen { try devices.noteSeen(device, now: now) }
    }

    /// The live device that has a secret; it is seen by that, which is written down now and then.
    func identify(_ secretHash: [UInt8]) throws(SQLiteError) -> DeviceID? {
        guard let identity = try devices.authenticate(secretHash) else { return nil }
        // A full disk has other worries.
        if allowance == .growing, isStale(identity, now: now) { try devices.noteSeen(identity.device, now: now) }
        return identity.device
    }

    /// Whether what is written of a device is too old to leave it at that, or from a clock that was wrong.
    func isStale(_ identity: DeviceTable.Identity, now: Int64) -> Bool {
        guard let seen = identity.seenUnixMilliseconds, !identity.isDormant, seen <= now else { return true }
        let (age, isHuge) = now.subtractingReportingOverflow(seen)
        return isHuge || age >= WriterLimits.seenIntervalMilliseconds(life: bounds.registrationLifeSeconds)
    }
}
