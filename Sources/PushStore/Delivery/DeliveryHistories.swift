// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQL

/// The delivery histories of devices: a bounded part in memory, all of them in a table.
///
/// Sending and acknowledging change a history in memory only. A changed history is written about
/// `WriterLimits.historyDelayMilliseconds` later, together with the others that changed by then, and when the server
/// stops. A crash loses the changes since the last write. Only the writer's thread uses it.
final class DeliveryHistories {
    /// The result of reporting an outcome.
    enum Report {
        /// The notification was not sent to this device, or was sent too long ago.
        case unknown
        /// The notification was sent to this device.
        ///
        /// The entry is the state before the report.
        case known(DeliveryHistory.Entry, isFirstTime: Bool)
    }

    private let table: DeliveryHistoryTable
    private let entryCountMax: Int
    private let entryCountInAllMax: Int
    private var histories: [DeviceID: DeliveryHistory] = [:]
    /// The number of entries in memory, plus `entriesPerHistory` for each history.
    private var cost = 0
    private static let entriesPerHistory = 8
    /// The changed histories in the order of their first change; some may be evicted.
    private var changed: [DeliveryHistory] = []
    /// The number of histories in `changed` that the current write round has not written.
    private var roundCount = 0
    private var nextStep = MonotonicTime.past
    /// A number for the team of each app.
    private var teams: [TopicID: Int] = [:]

    init(_ table: DeliveryHistoryTable, entryCountMax: Int, entryCountInAllMax: Int) {
        self.table = table
        self.entryCountMax = entryCountMax
        self.entryCountInAllMax = entryCountInAllMax
    }

    // MARK: Teams

    /// Sets the apps, whose teams share the capacity of a device's history.
    func setTeams(_ topics: [TopicID: Topic]) {
        var numbers: [String: Int] = [:]
        teams = topics.mapValues { topic in
            let number = numbers[topic.teamID] ?? numbers.count
            numbers[topic.teamID] = number
            return number
        }
    }

    /// Returns the number of an app's team; -1 for a removed app.
    func team(of topic: TopicID) -> Int { teams[topic] ?? -1 }

    // MARK: Changing

    /// Records that notifications are sent on a stream.
    ///
    /// - Parameters:
    ///   - notifications: The notifications.
    ///   - stream: The stream.
    ///   - moment: The monotonic time of this turn.
    ///   - record: Called for each notification that is sent for the first or second time. Later repetitions are not
    ///     recorded, so that a device that reconnects often does not fill the trace.
    func noteSent(
        _ notifications: [PendingNotification], on stream: DeviceStream, at moment: MonotonicTime,
        record: (PendingNotification) -> Void
    ) {
        let history = history(of: stream.device, stream)
        for pending in notifications {
            let notification = pending.notification
            let sending = history.noteSent(
                pending.sequence, notification.address.topic, isBroadcast: notification.channel != nil)
            switch sending {
            case .first:
                cost += 1
                record(pending)
            case .second: record(pending)
            case .further: break
            }
        }
        noteChange(history, at: moment)
        trim(history)
    }

    /// Records that a notification of the device's queue was sent, in case the history lost it before the
    /// acknowledgement.
    func noteSent(_ sequence: Int64, _ topic: TopicID, to device: DeviceID, _ stream: DeviceStream?) {
        let history = history(of: device, stream)
        guard history.index(of: sequence) == nil else { return }
        if history.noteSent(sequence, topic, isBroadcast: false) == .first { cost += 1 }
        trim(history)
    }

    /// Records an outcome.
    ///
    /// - Parameters:
    ///   - outcome: The outcome.
    ///   - sequence: The acknowledged sequence, an untrusted number.
    ///   - device: The device.
    ///   - stream: The device's open stream.
    ///   - moment: The monotonic time of this turn.
    /// - Returns: Whether the notification was sent to the device, with its entry before this report.
    /// - Throws: The error that SQLite returned. Only the first unknown number of a device causes a read.
    func report(
        _ outcome: DeviceAPI.Outcome, of sequence: Int64, by device: DeviceID, _ stream: DeviceStream?,
        at moment: MonotonicTime
    ) throws(SQLError) -> Report {
        let history = history(of: device, stream)
        var index = history.index(of: sequence)
        if index == nil, !history.isLoaded {
            try load(history)
            index = history.index(of: sequence)
        }
        guard let index else { return .unknown }
        let (entry, mark) = (history.entries[index], DeliveryHistory.Marks(outcome))
        let isFirstTime = !entry.marks.contains(mark)
        if isFirstTime || !entry.marks.contains(.acknowledged) {
            history.mark(index, [mark, .acknowledged])
            noteChange(history, at: moment)
        }
        return .known(entry, isFirstTime: isFirstTime)
    }

    /// Drops the history of a removed device from memory.
    func forget(_ device: DeviceID) {
        guard let history = histories[device] else { return }
        evict(history)
    }

    private func noteChange(_ history: DeliveryHistory, at moment: MonotonicTime) {
        guard history.changedSince == nil else { return }
        history.changedSince = moment
        changed.append(history)
    }

    private func history(of device: DeviceID, _ stream: DeviceStream?) -> DeliveryHistory {
        if cost >= entryCountInAllMax { makeRoom() }
        if let history = stream?.history, !history.isEvicted { return history }
        let history: DeliveryHistory
        if let known = histories[device] {
            history = known
        } else {
            history = DeliveryHistory(device)
            histories[device] = history
            cost += Self.entriesPerHistory
        }
        stream?.history = history
        return history
    }

    private func load(_ history: DeliveryHistory) throws(SQLError) {
        let count = history.entries.count
        history.load(try table.read(of: history.device))
        cost += history.entries.count - count
        trim(history)
    }

    // MARK: Bounds

    /// Removes the oldest entries of a history that exceeds its bound by a quarter, so that few calls pay for it.
    private func trim(_ history: DeliveryHistory) {
        guard history.entries.count > entryCountMax + entryCountMax / 4 else { return }
        let teams = teams
        cost -= history.trim(to: entryCountMax) { teams[$0] ?? -1 }
    }

    /// Evicts histories when the total is too large, starting with those that have no unwritten changes.
    private func makeRoom() {
        let target = entryCountInAllMax - entryCountInAllMax / 16
        for isWrittenOnly in [true, false] {
            var (freed, victims) = (0, [DeliveryHistory]())
            for history in histories.values where cost - freed > target {
                if isWrittenOnly, history.changedSince != nil { continue }
                victims.append(history)
                freed += history.entries.count + Self.entriesPerHistory
            }
            for history in victims { evict(history) }
        }
    }

    private func evict(_ history: DeliveryHistory) {
        history.isEvicted = true
        histories[history.device] = nil
        cost -= history.entries.count + Self.entriesPerHistory
    }

    // MARK: Writing

    /// The time at which a write step is due; nil if nothing changed.
    var nextWrite: MonotonicTime? {
        guard let since = changed.first?.changedSince else { return nil }
        if roundCount > 0 { return nextStep }
        // An eviction would lose unwritten changes, so write early when they are many.
        let isMuch = changed.count * cost / max(histories.count, 1) > entryCountInAllMax / 2
        return isMuch ? .past : since.advanced(byMilliseconds: WriterLimits.historyDelayMilliseconds)
    }

    /// Whether a history has unwritten changes.
    var hasUnwritten: Bool { !changed.isEmpty }

    /// Returns the histories that a step writes: a bounded number of those that had changed when the round began.
    func beginStep(at moment: MonotonicTime) -> [DeliveryHistory] {
        if roundCount == 0 { roundCount = changed.count }
        nextStep = moment.advanced(byMilliseconds: WriterLimits.historyStepMilliseconds)
        return Array(changed.prefix(min(roundCount, WriterLimits.historiesPerStepCountMax)))
    }

    /// Writes the histories of a step.
    ///
    /// The caller must have begun a transaction.
    func write(_ step: [DeliveryHistory]) throws(SQLError) {
        for history in step where !history.isEvicted {
            if !history.isLoaded { try load(history) }
            try table.write(history.entries, of: history.device)
        }
    }

    /// Records that a step is committed.
    func confirm(_ step: [DeliveryHistory]) {
        for history in step { history.changedSince = nil }
        changed.removeFirst(step.count)
        roundCount = max(roundCount - step.count, 0)
    }

    /// Schedules a retry of a failed step.
    func postpone(at moment: MonotonicTime) {
        roundCount = max(roundCount, 1)
        nextStep = moment.advanced(byMilliseconds: WriterLimits.reserveRetryMilliseconds)
    }
}
