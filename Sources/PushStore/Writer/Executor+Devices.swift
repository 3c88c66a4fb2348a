// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

extension Executor {
    // MARK: Coming and going

    func enrol(_ new: StoreRequest.NewDevice) throws(SQLiteError) -> Verdict {
        guard new.name.utf8.count <= Limits.displayNameByteCountMax,
            new.platform.utf8.count <= Limits.displayNameByteCountMax
        else { return .failure(.tooMany) }
        // An id that does not fit is as useless as one that is taken: the caller makes another.
        guard let device = Int64(exactly: new.device.rawValue),
            try !devices.isTaken(device, secretHash: new.secretHash)
        else { return .failure(.alreadyExists) }
        if let codeHash = new.codeHash, try !enrolmentCodes.use(codeHash, now: now) {
            return .failure(.badEnrolmentCode)
        }
        try devices.add(device, new, now: now)
        events.append(.holding(.deviceAdded))
        return .success(.done)
    }

    func removeSelf(_ secretHash: [UInt8]) throws(SQLiteError) -> Verdict {
        guard let device = try identify(secretHash) else { return .failure(.unauthorized) }
        return try remove(device)
    }

    func removeDevice(_ device: DeviceID) throws(SQLiteError) -> Verdict {
        guard try isLive(device) else { return .failure(.unknownDevice) }
        return try remove(device)
    }

    /// Removes a device: its tokens are `Unregistered` from now, and nothing waits for it any more.
    private func remove(_ device: DeviceID) throws(SQLiteError) -> Verdict {
        _ = try endRegistrations(of: device, asExpired: false)
        try registrations.forgetFilter(of: device)
        try policies.removeAll(of: device)
        try devices.remove(device, now: now)
        events.append(.holding(.deviceRemoved(device)))
        return .success(.done)
    }

    /// Ends all registrations of a device, with their subscriptions and what waits; returns how many rows that were.
    func endRegistrations(of device: DeviceID, asExpired: Bool) throws(SQLiteError) -> Int {
        let topics = try registrations.endAll(of: device, asExpired: asExpired, now: now)
        let waiting = try removeWaiting(of: device, topic: nil)
        let subscribed = try subscriptions.removeAll(of: device)
        note(waiting, .unregistered)
        note(subscribed)
        events.append(.holding(.registrationsChanged(device)))
        for topic in topics {
            events.append(.stream(.silence(topic, on: device)))
            events.append(.holding(.registrationEnded(topic)))
        }
        return topics.count + waiting.count + subscribed.count
    }

    /// Whether there is such a device, which was not removed.
    func isLive(_ device: DeviceID) throws(SQLiteError) -> Bool {
        guard let stored = Int64(exactly: device.rawValue) else { return false }
        return try devices.find(stored) != nil
    }

    // MARK: Registrations

    func register(
        _ secretHash: [UInt8], _ topicName: String, _ environment: Environment
    ) throws(SQLiteError) -> Verdict {
        guard let device = try identify(secretHash) else { return .failure(.unauthorized) }
        guard let topic = try topics.find(topicName)?.topic else { return .failure(.unknownTopic) }
        let earlier = try registrations.find(device: device.stored, topic: topic.id)
        if let earlier, earlier.isLive {
            if try registrations.environment(device: device, topic: topic.id) == environment {
                let contents = DeviceTokenContents(
                    device: device, topic: topic.id, generation: earlier.generation)
                return .success(.registered(contents))
            }
            guard earlier.generation != .max else { return .failure(.tooMany) }
            try end(device, topic.id)
        }
        guard try registrations.liveCount(of: device) < Limits.registrationPerDeviceCountMax,
            earlier?.generation != .max
        else { return .failure(.tooMany) }
        let contents = DeviceTokenContents(
            device: device, topic: topic.id, generation: (earlier?.generation ?? 0) + 1)
        let isRefused = try registrations.isRefused(topicName, by: device)
        try registrations.register(contents, in: environment, isRefused: isRefused, now: now)
        events.append(.holding(.registrationsChanged(device)))
        events.append(.holding(.registrationBegan(topic.id)))
        return .success(.registered(contents))
    }

    /// Ends a registration; without one, for example because the app was removed, there is nothing to do.
    func unregister(_ secretHash: [UInt8], _ topicName: String) throws(SQLiteError) -> Verdict {
        guard let device = try identify(secretHash) else { return .failure(.unauthorized) }
        guard let topic = try topics.find(topicName)?.topic.id,
            try registrations.find(device: device.stored, topic: topic)?.isLive == true
        else { return .success(.done) }
        try end(device, topic)
        return .success(.done)
    }

    /// Ends a live registration, with its subscriptions and what waits.
    private func end(_ device: DeviceID, _ topic: TopicID) throws(SQLiteError) {
        try registrations.end(device: device, topic: topic, now: now)
        note(try removeWaiting(of: device, topic: topic), .unregistered)
        note(try subscriptions.removeAll(of: device, topic: topic))
        events.append(.stream(.silence(topic, on: device)))
        events.append(.holding(.registrationsChanged(device)))
        events.append(.holding(.registrationEnded(topic)))
    }

    // MARK: What a device wants, and what it has

    func setFilter(_ secretHash: [UInt8], _ refusedTopics: [String]) throws(SQLiteError) -> Verdict {
        guard let device = try identify(secretHash) else { return .failure(.unauthorized) }
        guard refusedTopics.count <= Limits.filterTopicCountMax,
            refusedTopics.allSatisfy({ $0.utf8.count <= Limits.topicByteCountMax })
        else { return .failure(.tooMany) }
        // What came while a topic was refused is dropped, so that it does not come when it no longer is.
        _ = try subscriptions.skipRefused(of: device, upTo: sequences.last)
        events.append(.holding(.registrationsChanged(device)))
        for topic in try registrations.setFilter(of: device, refusedTopics: refusedTopics) {
            note(try removeWaiting(of: device, topic: topic), .dropped, .refusedByDevice)
            events.append(.stream(.silence(topic, on: device)))
        }
        for sequence in try subscriptions.skipRefused(of: device, upTo: sequences.last) {
            events.append(.broadcast(.settled(sequence, device)))
        }
        events.append(.stream(.listen(device, try subscriptions.listeners(of: device))))
        return .success(.done)
    }

    /// Notes whether a device saves power, for as long as its stream is open.
    func setPower(_ secretHash: [UInt8], _ isSaving: Bool) throws(SQLiteError) -> Verdict {
        guard let device = try identify(secretHash) else { return .failure(.unauthorized) }
        events.append(.stream(.power(device, isSaving: isSaving)))
        return .success(.done)
    }

    // MARK: Its queue

    /// Removes what waits for a device, or for an app on it.
    func removeWaiting(of device: DeviceID, topic: TopicID?) throws(SQLiteError) -> [PendingTable.Removed] {
        var removed: [PendingTable.Removed] = []
        func remove(_ sequence: Int64, _ rowTopic: TopicID, isSettled: Bool) throws(SQLiteError) {
            guard topic == nil || rowTopic == topic, try pending.remove(sequence) else { return }
            if isSettled { try settled.remove(sequence, of: device, topic: rowTopic) }
            removed.append(PendingTable.Removed(sequence: sequence, device: device, topic: rowTopic))
        }
        for row in try settled.rows(of: device, after: .min, countMax: .max) {
            try remove(row.sequence, row.topic, isSettled: true)
        }
        for entry in cards.known(device)?.recent.all ?? [] {
            try remove(entry.sequence, entry.topic, isSettled: false)
        }
        return removed
    }

    /// Removes rows of any devices; returns those that were there.
    func removeWaiting(_ rows: [PendingTable.Removed]) throws(SQLiteError) -> [PendingTable.Removed] {
        var removed: [PendingTable.Removed] = []
        for row in rows where try pending.remove(row.sequence) { removed.append(row) }
        // In the order of their index, of which each page is then read and written once.
        for row in removed.sorted(by: { ($0.device.rawValue, $0.sequence) < ($1.device.rawValue, $1.sequence) }) {
            try settled.remove(row.sequence, of: row.device, topic: row.topic)
        }
        return removed
    }

    /// How many wait for a device, without broadcasts.
    func waitingCount(of device: DeviceID) throws(SQLiteError) -> Int {
        let settledCount = try settled.counts(of: device).reduce(0) { $0 + $1.count }
        return settledCount + (cards.known(device)?.recent.count ?? 0)
    }
}
