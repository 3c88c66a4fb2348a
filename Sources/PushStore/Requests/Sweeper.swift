// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushSQL

/// Rows with a wrong checksum, to be deleted.
struct DamagedRows {
    var notifications: [PendingTable.Removed] = []
    /// The sequences of damaged broadcasts.
    var broadcasts: Set<Int64> = []
}

/// Deletes what expired, and expires the registrations of devices that were unseen for too long.
final class Sweeper {
    private let pending: PendingTable
    private let broadcasts: BroadcastTable
    private let enrolmentCodes: EnrolmentCodeTable
    private let devices: DeviceTable
    private let state: StateTable
    private let transaction: StoreTransaction
    private let storedQueues: StoredQueues
    private let authentication: DeviceAuthentication
    private let registrations: RegistrationExecutor
    private let traces: TraceExecutor
    private let bounds: StoreBounds
    /// The time before which no device expires, so that devices can reconnect after a long stop.
    private let reconnectionEnd: Timestamp

    init(
        _ tables: StoreTables, _ transaction: StoreTransaction, _ storedQueues: StoredQueues,
        _ authentication: DeviceAuthentication, _ registrations: RegistrationExecutor, _ traces: TraceExecutor,
        _ bounds: StoreBounds, now: Timestamp
    ) throws(SQLError) {
        pending = tables.pending
        broadcasts = tables.broadcasts
        enrolmentCodes = tables.enrolmentCodes
        devices = tables.devices
        state = tables.state
        self.transaction = transaction
        self.storedQueues = storedQueues
        self.authentication = authentication
        self.registrations = registrations
        self.traces = traces
        self.bounds = bounds
        reconnectionEnd = Self.reconnectionEnd(
            now: now, lastRunning: try tables.state.lastRunning(),
            registrationLifeSeconds: bounds.registrationLifeSeconds)
    }

    /// Deletes damaged and expired rows, and expires registrations; a bounded number in one step.
    ///
    /// - Parameters:
    ///   - rows: The damaged rows.
    ///   - isConnected: Returns whether a device's stream is open. A connected device counts as seen now.
    /// - Returns: Whether more rows may be left.
    /// - Throws: The error that SQLite returned.
    func sweep(_ rows: DamagedRows, isConnected: (DeviceID) -> Bool) throws(SQLError) -> Bool {
        let countMax = WriterLimits.rowsSweptPerStepCountMax
        transaction.note(try storedQueues.remove(rows.notifications), .dropped, .damaged)
        for sequence in rows.broadcasts { transaction.note(try broadcasts.remove(sequence), .dropped) }
        var expired = try storedQueues.remove(try pending.expired(now: transaction.now, countMax: countMax))
        expired += try storedQueues.remove(
            try pending.accepted(
                before: transaction.now.advanced(bySeconds: -Limits.retentionSecondsMax), countMax: countMax))
        transaction.note(expired, .expired)
        let expiredBroadcasts = try broadcasts.removeExpired(now: transaction.now, countMax: countMax)
        transaction.note(expiredBroadcasts, .expired)
        try enrolmentCodes.deleteExpired(now: transaction.now)
        let isMoreUnseen = try expireUnseen(isConnected: isConnected)
        let isMoreTrace = try traces.trim()
        return isMoreTrace || expired.count >= countMax || expiredBroadcasts.count == countMax || isMoreUnseen
    }

    /// Expires the registrations of devices that were unseen for too long; returns true when more may be left.
    private func expireUnseen(isConnected: (DeviceID) -> Bool) throws(SQLError) -> Bool {
        guard let moment = unseenDeadline else { return false }
        let unseen = try devices.unseen(since: moment, countMax: WriterLimits.devicesSweptPerStepCountMax)
        var rowCount = 0
        for device in unseen {
            if isConnected(device) {
                try devices.noteSeen(device, at: transaction.now)
            } else {
                rowCount += try registrations.endAll(of: device, asExpired: true)
                try devices.noteDormant(device)
            }
            // One device may have very many rows, so the rest waits for the next step.
            if rowCount >= WriterLimits.rowsSweptPerStepCountMax { return true }
        }
        return unseen.count == WriterLimits.devicesSweptPerStepCountMax
    }

    /// The time before which an unseen device expires; nil while no device expires.
    private var unseenDeadline: Timestamp? {
        guard let life = bounds.registrationLifeSeconds, transaction.now >= reconnectionEnd else { return nil }
        return transaction.now.advanced(bySeconds: -max(life, 0))
    }

    /// Returns the end of the time that devices have to reconnect after a start.
    ///
    /// No device can be seen while the server is stopped. After a long stop, or with an old backup, devices have a day,
    /// or the time that they may be unseen if it is shorter.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - lastRunning: The last recorded running time; nil if unknown.
    ///   - registrationLifeSeconds: The time that a device may be unseen; nil without a limit.
    /// - Returns: The end of the time; `now` after a short stop.
    private static func reconnectionEnd(now: Timestamp, lastRunning: Timestamp?, registrationLifeSeconds: Int64?)
        -> Timestamp
    {
        if let lastRunning, now.milliseconds(since: lastRunning) <= 2 * WriterLimits.seenIntervalMilliseconds {
            return now
        }
        let life = max(registrationLifeSeconds ?? .max, 0).multipliedReportingOverflow(by: 1000)
        let graceMilliseconds = life.overflow ? WriterLimits.reconnectionMilliseconds : life.partialValue
        return now.advanced(byMilliseconds: min(graceMilliseconds, WriterLimits.reconnectionMilliseconds))
    }

    // MARK: Last-seen times

    /// Records that the server runs now, and when devices were last seen.
    func noteRunning(_ seen: [(device: DeviceID, at: Timestamp)]) throws(SQLError) {
        try state.noteRunning(now: transaction.now)
        try authentication.noteSeen(seen)
    }
}
