// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

extension Executor {
    /// Performs a change that an administrator asks for.
    func administer(_ request: StoreRequest) throws(SQLiteError) -> Verdict {
        switch request {
        case .addApp(let topic, let name, let team, _, _): return try addApp(topic, name, team)
        case .removeApp(let topic): return try removeApp(topic)
        case .addKey(let key): return try addKey(key)
        case .revokeKey(let id): return try revokeKey(id)
        case .addEnrolmentCode(let hash, let expires): return try addEnrolmentCode(hash, expires)
        case .removeDevice(let device):
            guard let stored = Int64(exactly: device.rawValue), try devices.find(stored) != nil else {
                return .failure(.unknownDevice)
            }
            return try remove(device)
        default:
            preconditionFailure("not an administrator's change: perform(_:_:) sorts them")
        }
    }

    /// Answers a question of an administrator; nil when the answer follows from an event.
    func look(_ request: StoreRequest, _ answer: ReplyAddress) throws(SQLiteError) -> Verdict? {
        switch request {
        case .apps: events.append(.apps(try topics.all(), answer: answer))
        case .app(let topic):
            guard let row = try topics.find(topic) else { return .failure(.unknownTopic) }
            events.append(.app(row, answer: answer))
        case .keys: return .success(.keys(try keys.all().map(AdminAPI.Key.init)))
        case .devices:
            var list: [(AdminAPI.Device, DeviceID)] = []
            for row in try devices.all() { list.append((try description(of: row), row.id)) }
            events.append(.devices(list, answer: answer))
        case .device(let device):
            guard let stored = Int64(exactly: device.rawValue), let row = try devices.find(stored) else {
                return .failure(.unknownDevice)
            }
            events.append(.device(try description(of: row), device, answer: answer))
        case .counts: events.append(.counts(answer: answer))
        default:
            preconditionFailure("not a question: perform(_:_:) sorts them")
        }
        return nil
    }

    /// What loops must know of apps and keys.
    func directory(version: UInt64) throws(SQLiteError) -> Directory {
        let topics = try topics.all().map { ($0.topic.id, $0.topic) }
        let keys = try keys.all().map { ($0.id, $0) }
        return Directory(
            version: version, topics: Dictionary(topics) { first, _ in first },
            keys: Dictionary(keys) { first, _ in first })
    }

    private func addApp(_ topic: String, _ name: String, _ team: String) throws(SQLiteError) -> Verdict {
        guard topic.utf8.count <= Limits.topicByteCountMax, name.utf8.count <= Limits.displayNameByteCountMax else {
            return .failure(.tooMany)
        }
        guard try topics.find(topic) == nil else { return .failure(.alreadyExists) }
        try topics.add(topic: topic, name: name, team: team, now: now)
        events.append(.appAdded)
        hasDirectoryChanged = true
        return .success(.done)
    }

    /// Removes an app: its tokens are `Unregistered` from now, on every device.
    private func removeApp(_ topicName: String) throws(SQLiteError) -> Verdict {
        guard let topic = try topics.find(topicName)?.topic.id else { return .failure(.unknownTopic) }
        try registrations.endAll(of: topic, now: now)
        note(try pending.removeAll(of: topic), .unregistered)
        try topics.remove(topic, now: now)
        events.append(.silence(topic, on: nil))
        events.append(.appRemoved(topic))
        hasDirectoryChanged = true
        return .success(.done)
    }

    private func addKey(_ key: SigningKey) throws(SQLiteError) -> Verdict {
        guard try !keys.contains(key.id) else { return .failure(.alreadyExists) }
        try keys.add(key)
        hasDirectoryChanged = true
        return .success(.done)
    }

    private func revokeKey(_ id: String) throws(SQLiteError) -> Verdict {
        guard try keys.contains(id) else { return .failure(.unknownKey) }
        try keys.revoke(id, nowUnixSeconds: now.unixSeconds)
        hasDirectoryChanged = true
        return .success(.done)
    }

    private func addEnrolmentCode(_ hash: [UInt8], _ expiresUnixSeconds: Int64) throws(SQLiteError) -> Verdict {
        guard try !enrolmentCodes.contains(hash) else { return .failure(.alreadyExists) }
        try enrolmentCodes.add(hash, expiresUnixSeconds: expiresUnixSeconds)
        return .success(.done)
    }

    /// All but `connected`, which is in memory.
    private func description(of row: DeviceTable.Row) throws(SQLiteError) -> AdminAPI.Device {
        AdminAPI.Device(
            deviceID: row.id.text, name: row.name, platform: row.platform,
            enrolledAt: row.enrolledUnixMilliseconds.unixSeconds, connected: false,
            topics: try registrations.liveTopicNames(of: row.id), pendingCount: try pending.count(of: row.id))
    }
}

extension AdminAPI.Key {
    /// What an administrator sees of a key.
    fileprivate init(_ key: SigningKey) {
        self.init(
            keyID: key.id, teamID: key.teamID, topics: key.topics, createdAt: key.createdUnixSeconds,
            revokedAt: key.revokedUnixSeconds)
    }
}
