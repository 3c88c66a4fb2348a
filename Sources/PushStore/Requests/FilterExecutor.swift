// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushSQL

/// Changes the filters of devices, the topics whose notifications a device refuses.
final class FilterExecutor {
    private let topics: TopicTable
    private let registrations: RegistrationTable
    private let subscriptions: SubscriptionTable
    private let transaction: StoreTransaction
    private let waiting: any WaitingNotifications
    private let numbers: any NotificationNumbers
    fileprivate let authentication: DeviceAuthentication

    init(
        _ tables: SharedTables, _ transaction: StoreTransaction, _ waiting: any WaitingNotifications,
        _ numbers: any NotificationNumbers,
        _ authentication: DeviceAuthentication
    ) {
        topics = tables.topics
        registrations = tables.registrations
        subscriptions = tables.subscriptions
        self.transaction = transaction
        self.waiting = waiting
        self.numbers = numbers
        self.authentication = authentication
    }

    /// Replaces the filter of a device; processes only the topics that are added or removed.
    func setFilter(_ device: DeviceID, _ refusedTopics: [TopicName]) throws(SQLError) -> RequestResult {
        guard refusedTopics.count <= Limits.filterTopicCountMax,
            refusedTopics.allSatisfy({ $0.text.utf8.count <= Limits.topicByteCountMax })
        else { return .failure(.tooMany) }
        let (wanted, stored) = (Set(refusedTopics), try registrations.filter(of: device))
        let changes =
            stored.subtracting(wanted).sorted().map { FilterChange.Change(topic: $0, isRefused: false) }
            + wanted.subtracting(stored).sorted().map { FilterChange.Change(topic: $0, isRefused: true) }
        return changes.isEmpty ? .success(.done) : .unfinished(FilterChange(of: device, changes, self))
    }

    /// Applies the change of one topic; returns the number of other changed rows, 0 when the app is not registered.
    fileprivate func apply(_ change: FilterChange.Change, of device: DeviceID) throws(SQLError) -> Int {
        try registrations.setFilter(of: device, change.topic, isRefused: change.isRefused)
        guard let topic = try topics.find(change.topic)?.topic.id,
            let row = try registrations.find(device: device.stored, topic: topic), row.isRefused != change.isRefused
        else { return 0 }
        try registrations.setRefused(change.isRefused, device: device, topic: topic)
        // The subscriptions skip broadcasts that came while the topic was refused, also when it is allowed again.
        var rowCount = 1 + (try subscriptions.skip(of: device, topic: topic, upTo: numbers.last))
        guard change.isRefused else { return rowCount }
        let removed = try waiting.remove(of: device, topic: topic)
        transaction.note(removed, .dropped, .refusedByDevice)
        transaction.add(.stream(.dropUndelivered(topic, on: device)))
        for sequence in try subscriptions.stored(for: device, topic: topic) {
            transaction.add(.broadcast(.ended(sequence, device)))
        }
        rowCount += removed.count
        return rowCount
    }

    fileprivate func noteFilterChange(of device: DeviceID) throws(SQLError) {
        transaction.add(.count(.registrationsChanged(device)))
        transaction.add(.stream(.setSubscriptions(device, try subscriptions.active(of: device))))
    }
}

/// The change of a device's filter, executed in steps of some topics.
private final class FilterChange: LongWork {
    /// A topic that the device starts or stops refusing.
    struct Change {
        var topic: TopicName
        var isRefused: Bool
    }

    private let device: DeviceID
    private let changes: [Change]
    private let executor: FilterExecutor
    private var next = 0

    init(of device: DeviceID, _ changes: [Change], _ executor: FilterExecutor) {
        self.device = device
        self.changes = changes
        self.executor = executor
    }

    func step() throws(SQLError) -> RequestResult {
        guard try executor.authentication.isLive(device) else { return .failure(.unauthorized) }
        var (rowCount, hasChanged) = (0, false)
        while next < changes.count, rowCount < WriterLimits.rowsChangedPerStepCountMax {
            let count = try executor.apply(changes[next], of: device)
            if count > 0 { hasChanged = true }
            rowCount += 1 + count
            next += 1
        }
        if hasChanged { try executor.noteFilterChange(of: device) }
        guard next == changes.count else { return .unfinished(self) }
        return .success(.done)
    }

    func restart() { next = 0 }
}
