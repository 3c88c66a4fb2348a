// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

extension Executor {
    typealias Verdict = Result<StoreAnswer, StoreRefusal>

    /// Performs what a device asks for.
    func performForDevice(_ request: StoreRequest) throws(SQLiteError) -> Verdict {
        switch request {
        case .enrol(let new): return try enrol(new)
        case .register(let secretHash, let topic, _):
            return try withDevice(secretHash) { (device) throws(SQLiteError) in try register(device, topic) }
        case .unregister(let secretHash, let topic):
            return try withDevice(secretHash) { (device) throws(SQLiteError) in try unregister(device, topic) }
        case .setFilter(let secretHash, let topics):
            return try withDevice(secretHash) { (device) throws(SQLiteError) in try setFilter(device, topics) }
        case .acknowledge(let secretHash, let acknowledgements):
            return try withDevice(secretHash) { (device) throws(SQLiteError) in
                try acknowledge(device, acknowledgements)
            }
        case .removeSelf(let secretHash):
            return try withDevice(secretHash) { (device) throws(SQLiteError) in try remove(device) }
        default:
            preconditionFailure("not a device's request: perform(_:_:) sorts them")
        }
    }

    /// Removes a device: its tokens are `Unregistered` from now, and nothing waits for it any more.
    func remove(_ device: DeviceID) throws(SQLiteError) -> Verdict {
        for topic in try registrations.endAll(of: device, now: now) { events.append(.registrationEnded(topic)) }
        note(try pending.removeAll(of: device), .unregistered)
        try devices.remove(device, now: now)
        events.append(.deviceRemoved(device))
        return .success(.done)
    }

    private func withDevice(
        _ secretHash: [UInt8], _ body: (DeviceID) throws(SQLiteError) -> Verdict
    ) throws(SQLiteError) -> Verdict {
        guard let device = try devices.authenticate(secretHash) else { return .failure(.unauthorized) }
        return try body(device)
    }

    private func enrol(_ new: StoreRequest.NewDevice) throws(SQLiteError) -> Verdict {
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
        events.append(.deviceAdded)
        return .success(.done)
    }

    private func register(_ device: DeviceID, _ topicName: String) throws(SQLiteError) -> Verdict {
        guard let topic = try topics.find(topicName)?.topic else { return .failure(.unknownTopic) }
        let earlier = try registrations.find(device: device.stored, topic: topic.id)
        if let earlier, earlier.isLive {
            return .success(
                .registered(
                    DeviceTokenContents(device: device, topic: topic.id, generation: earlier.generation)))
        }
        guard try registrations.liveCount(of: device) < Limits.registrationPerDeviceCountMax,
            earlier?.generation != .max
        else { return .failure(.tooMany) }
        let contents = DeviceTokenContents(
            device: device, topic: topic.id, generation: (earlier?.generation ?? 0) + 1)
        let isRefused = try registrations.isRefused(topicName, by: device)
        try registrations.register(contents, isRefused: isRefused, now: now)
        events.append(.registrationBegan(topic.id))
        return .success(.registered(contents))
    }

    /// Ends a registration; without one, for example because the app was removed, there is nothing to do.
    private func unregister(_ device: DeviceID, _ topicName: String) throws(SQLiteError) -> Verdict {
        guard let topic = try topics.find(topicName)?.topic.id,
            try registrations.find(device: device.stored, topic: topic)?.isLive == true
        else { return .success(.done) }
        try registrations.end(device: device, topic: topic, now: now)
        note(try pending.removeAll(of: device, topic: topic), .unregistered)
        events.append(.silence(topic, on: device))
        events.append(.registrationEnded(topic))
        return .success(.done)
    }

    private func setFilter(_ device: DeviceID, _ refusedTopics: [String]) throws(SQLiteError) -> Verdict {
        guard refusedTopics.count <= Limits.filterTopicCountMax,
            refusedTopics.allSatisfy({ $0.utf8.count <= Limits.topicByteCountMax })
        else { return .failure(.tooMany) }
        for topic in try registrations.setFilter(of: device, refusedTopics: refusedTopics) {
            note(try pending.removeAll(of: device, topic: topic), .dropped)
            events.append(.silence(topic, on: device))
        }
        return .success(.done)
    }

    private func acknowledge(
        _ device: DeviceID, _ acknowledgements: [DeviceAPI.Acknowledgement]
    ) throws(SQLiteError) -> Verdict {
        guard acknowledgements.count <= Limits.acknowledgementBatchCountMax else { return .failure(.tooMany) }
        for acknowledgement in acknowledgements {
            if let removed = try pending.remove(acknowledgement.id, of: device) {
                events.append(.removed(removed, .acknowledged))
            }
            events.append(.outcome(acknowledgement.outcome))
        }
        return .success(.done)
    }
}
