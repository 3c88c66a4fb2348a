// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushSQLite

/// The change of a device's filter, executed in steps of some topics.
final class FilterChange: LongWork {
    /// A topic that the device starts or stops refusing.
    struct Change {
        var topic: String
        var isRefused: Bool
    }

    private let device: DeviceID
    private let changes: [Change]
    private let answer: ReplyAddress
    private var next = 0

    init(of device: DeviceID, _ changes: [Change], _ answer: ReplyAddress) {
        self.device = device
        self.changes = changes
        self.answer = answer
    }

    func step(_ executor: Executor) throws(SQLiteError) -> Bool {
        guard try executor.isLive(device) else {
            executor.events.append(.reply(.performed(.failure(.unauthorized), answer: answer)))
            return true
        }
        var (rowCount, hasChanged) = (0, false)
        while next < changes.count, rowCount < WriterLimits.rowsChangedPerStepCountMax {
            let count = try executor.apply(changes[next], of: device)
            if count > 0 { hasChanged = true }
            rowCount += 1 + count
            next += 1
        }
        if hasChanged { try executor.noteFilterChange(of: device) }
        guard next == changes.count else { return false }
        executor.events.append(.success(.done, to: answer))
        return true
    }

    func restart() { next = 0 }
}

extension Executor {
    /// Applies the change of one topic; returns the number of other changed rows, 0 when the app is not registered.
    fileprivate func apply(_ change: FilterChange.Change, of device: DeviceID) throws(SQLiteError) -> Int {
        try registrations.setFilter(of: device, change.topic, isRefused: change.isRefused)
        guard let topic = try topics.find(change.topic)?.topic.id,
            let row = try registrations.find(device: device.stored, topic: topic), row.isRefused != change.isRefused
        else { return 0 }
        try registrations.setRefused(change.isRefused, device: device, topic: topic)
        // The subscriptions skip broadcasts that came while the topic was refused, also when it is allowed again.
        var rowCount = 1 + (try subscriptions.skip(of: device, topic: topic, upTo: sequences.last))
        guard change.isRefused else { return rowCount }
        let waiting = try removeWaiting(of: device, topic: topic)
        note(waiting, .dropped, .refusedByDevice)
        events.append(.stream(.silence(topic, on: device)))
        for sequence in try subscriptions.stored(for: device, topic: topic) {
            events.append(.broadcast(.settled(sequence, device)))
        }
        rowCount += waiting.count
        return rowCount
    }

    fileprivate func noteFilterChange(of device: DeviceID) throws(SQLiteError) {
        events.append(.holding(.registrationsChanged(device)))
        events.append(.stream(.listen(device, try subscriptions.listeners(of: device))))
    }
}
