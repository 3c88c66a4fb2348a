// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

extension Executor {
    // MARK: Enrolment and removal

    func enrol(_ new: StoreRequest.NewDevice) throws(SQLiteError) -> Verdict {
        guard new.name.utf8.count <= Limits.displayNameByteCountMax,
            new.platform.utf8.count <= Limits.displayNameByteCountMax
        else { return .failure(.tooMany) }
        // An id that does not fit into 63 bits is refused like a taken one; the caller generates another.
        guard let device = Int64(exactly: new.device.rawValue),
            try !devices.isTaken(device, secretHash: new.secretHash)
        else { return .failure(.alreadyExists) }
        if let codeHash = new.codeHash, try !enrolmentCodes.use(codeHash, by: device, new.requestHash, now: now) {
            return try repeatEnrolment(new, codeHash)
        }
        try devices.add(device, new, now: now)
        events.append(.holding(.deviceAdded))
        return .success(.enrolled(new.device))
    }

    /// Gives a device whose answer was lost a new secret.
    ///
    /// The request must have the same code and request id, and the device must not have been used.
    ///
    /// - Parameters:
    ///   - new: The request.
    ///   - codeHash: The hash of the enrolment code.
    /// - Returns: The result.
    /// - Throws: The error that SQLite returned.
    private func repeatEnrolment(
        _ new: StoreRequest.NewDevice, _ codeHash: [UInt8]
    ) throws(SQLiteError) -> Verdict {
        guard let requestHash = new.requestHash,
            let known = try enrolmentCodes.device(codeHash, requestHash, now: now),
            let row = try devices.find(known), row.seenUnixMilliseconds == nil
        else { return .failure(.badEnrolmentCode) }
        try devices.change(known, new)
        return .success(.enrolled(row.id))
    }

    func removeSelf(_ secretHash: [UInt8], _ answer: ReplyAddress) throws(SQLiteError) -> Verdict? {
        guard let device = try identify(secretHash) else { return .failure(.unauthorized) }
        return remove(device, answer)
    }

    func removeDevice(_ device: DeviceID, _ answer: ReplyAddress) throws(SQLiteError) -> Verdict? {
        guard try isLive(device) else { return .failure(.unknownDevice) }
        return remove(device, answer)
    }

    /// Removes a device with its registrations and its queue.
    ///
    /// Its device tokens become `Unregistered`.
    private func remove(_ device: DeviceID, _ answer: ReplyAddress) -> Verdict? {
        begin(
            Removal(answer) { [unowned self] () throws(SQLiteError) in
                // The device or an administrator may have removed it since the last step.
                guard try isLive(device) else { return .success(true) }
                guard try endSomeRegistrations(of: device, asExpired: false) else { return .success(false) }
                _ = try endRegistrations(of: device, asExpired: false)
                try registrations.forgetFilter(of: device)
                try policies.removeAll(of: device)
                try devices.remove(device, now: now)
                try deliveryHistories.remove(of: device)
                events.append(.holding(.deviceRemoved(device)))
                return .success(true)
            })
    }

    /// Expires all registrations of a device.
    func expireDevice(_ device: DeviceID, _ answer: ReplyAddress) throws(SQLiteError) -> Verdict? {
        guard try isLive(device) else { return .failure(.unknownDevice) }
        return begin(
            Removal(answer) { [unowned self] () throws(SQLiteError) in
                guard try endSomeRegistrations(of: device, asExpired: true) else { return .success(false) }
                _ = try endRegistrations(of: device, asExpired: true)
                return .success(true)
            })
    }

    /// Ends all registrations of a device, with their subscriptions and queues; returns the number of changed rows.
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

    /// Returns whether a device exists and is not removed.
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
            _ = try end(device, topic.id)
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

    /// Ends a registration; succeeds without one, for example after the app was removed.
    func unregister(_ secretHash: [UInt8], _ topicName: String) throws(SQLiteError) -> Verdict {
        guard let device = try identify(secretHash) else { return .failure(.unauthorized) }
        guard let topic = try topics.find(topicName)?.topic.id,
            try registrations.find(device: device.stored, topic: topic)?.isLive == true
        else { return .success(.done) }
        _ = try end(device, topic)
        return .success(.done)
    }

    /// Ends a live registration, with its subscriptions and its queue; returns the number of changed rows.
    func end(_ device: DeviceID, _ topic: TopicID, asExpired: Bool = false) throws(SQLiteError) -> Int {
        try registrations.end(device: device, topic: topic, asExpired: asExpired, now: now)
        let waiting = try removeWaiting(of: device, topic: topic)
        let subscribed = try subscriptions.removeAll(of: device, topic: topic)
        note(waiting, .unregistered)
        note(subscribed)
        events.append(.stream(.silence(topic, on: device)))
        events.append(.holding(.registrationsChanged(device)))
        events.append(.holding(.registrationEnded(topic)))
        return 1 + waiting.count + subscribed.count
    }

    // MARK: Filter and power

    /// Replaces the filter of a device; processes only the topics that are added or removed.
    func setFilter(
        _ secretHash: [UInt8], _ refusedTopics: [String], _ answer: ReplyAddress
    ) throws(SQLiteError) -> Verdict? {
        guard let device = try identify(secretHash) else { return .failure(.unauthorized) }
        guard refusedTopics.count <= Limits.filterTopicCountMax,
            refusedTopics.allSatisfy({ $0.utf8.count <= Limits.topicByteCountMax })
        else { return .failure(.tooMany) }
        let (wanted, stored) = (Set(refusedTopics), try registrations.filter(of: device))
        let changes =
            stored.subtracting(wanted).sorted().map { FilterChange.Change(topic: $0, isRefused: false) }
            + wanted.subtracting(stored).sorted().map { FilterChange.Change(topic: $0, isRefused: true) }
        return changes.isEmpty ? .success(.done) : begin(FilterChange(of: device, changes, answer))
    }

    /// Sets whether a device saves power while its stream is open.
    func setPower(_ secretHash: [UInt8], _ isSaving: Bool) throws(SQLiteError) -> Verdict {
        guard let device = try identify(secretHash) else { return .failure(.unauthorized) }
        events.append(.stream(.power(device, isSaving: isSaving)))
        return .success(.done)
    }

    // MARK: Queue

    /// Removes the waiting notifications of a device, or of an app on it.
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

    /// Removes rows of any devices; returns those that existed.
    func removeWaiting(_ rows: [PendingTable.Removed]) throws(SQLiteError) -> [PendingTable.Removed] {
        var removed: [PendingTable.Removed] = []
        for row in rows where try pending.remove(row.sequence) { removed.append(row) }
        // Delete in the order of the index, so that each page is read and written once.
        for row in removed.sorted(by: { ($0.device.rawValue, $0.sequence) < ($1.device.rawValue, $1.sequence) }) {
            try settled.remove(row.sequence, of: row.device, topic: row.topic)
        }
        return removed
    }

    /// Returns the number of notifications that wait for a device, without broadcasts.
    func waitingCount(of device: DeviceID) throws(SQLiteError) -> Int {
        let settledCount = try settled.counts(of: device).reduce(0) { $0 + $1.count }
        return settledCount + (cards.known(device)?.recent.count ?? 0)
    }
}
