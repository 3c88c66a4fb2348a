// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

extension Executor {
    // MARK: Apps

    func addApp(
        _ topic: String, _ name: String, _ team: String, _ checks: PayloadChecks, _ allowsBroadcasts: Bool
    ) throws(SQLiteError) -> Verdict {
        guard topic.utf8.count <= Limits.topicByteCountMax, name.utf8.count <= Limits.displayNameByteCountMax else {
            return .failure(.tooMany)
        }
        guard try topics.find(topic) == nil else { return .failure(.alreadyExists) }
        let new = Topic(
            id: TopicID(rawValue: 0), name: topic, teamID: team, checks: checks, allowsBroadcasts: allowsBroadcasts)
        try topics.add(TopicTable.Row(topic: new, displayName: name), now: now)
        events.append(.holding(.appAdded))
        hasDirectoryChanged = true
        return .success(.done)
    }

    /// Changes what is given of an app; its channels go when it may not have them any more.
    func changeApp(
        _ topic: String, _ name: String?, _ checks: PayloadChecks?, _ allowsBroadcasts: Bool?
    ) throws(SQLiteError) -> Verdict {
        guard var row = try topics.find(topic) else { return .failure(.unknownTopic) }
        row.displayName = name ?? row.displayName
        guard row.displayName.utf8.count <= Limits.displayNameByteCountMax else { return .failure(.tooMany) }
        row.topic.checks = checks ?? row.topic.checks
        if row.topic.allowsBroadcasts, allowsBroadcasts == false { try removeChannels(of: row.topic.id) }
        row.topic.allowsBroadcasts = allowsBroadcasts ?? row.topic.allowsBroadcasts
        try topics.change(row)
        hasDirectoryChanged = true
        return .success(.done)
    }

    /// Removes an app: its tokens are `Unregistered` from now, on every device.
    func removeApp(_ topicName: String) throws(SQLiteError) -> Verdict {
        guard let topic = try topics.find(topicName)?.topic.id else { return .failure(.unknownTopic) }
        try removeChannels(of: topic)
        try registrations.endAll(of: topic, now: now)
        note(try removeWaiting(try pending.all(of: topic)), .unregistered)
        events.append(.holding(.registrationsChanged(nil)))
        try webhooks.remove(topic)
        if try policies.removeAll(topic: topicName) { try notePolicyChange() }
        try topics.remove(topic, now: now)
        events.append(.stream(.silence(topic, on: nil)))
        events.append(.holding(.appRemoved(topic)))
        hasDirectoryChanged = true
        return .success(.done)
    }

    func apps(_ answer: ReplyAddress) throws(SQLiteError) -> Verdict? {
        let webhooks = try webhooks.all()
        var rows = try topics.all()
        for index in rows.indices { rows[index].topic.webhook = webhooks[rows[index].topic.id] }
        events.append(.question(.apps(rows, answer: answer)))
        return nil
    }

    func app(_ topic: String, _ answer: ReplyAddress) throws(SQLiteError) -> Verdict? {
        guard var row = try topics.find(topic) else { return .failure(.unknownTopic) }
        row.topic.webhook = try webhooks.find(row.topic.id)
        events.append(.question(.app(row, answer: answer)))
        return nil
    }

    // MARK: Keys and certificates

    func addKey(_ key: SigningKey) throws(SQLiteError) -> Verdict {
        guard try !keys.contains(key.id) else { return .failure(.alreadyExists) }
        try keys.add(key)
        hasDirectoryChanged = true
        return .success(.done)
    }

    func allKeys() throws(SQLiteError) -> Verdict { .success(.keys(try keys.all().map(AdminAPI.Key.init))) }

    func revokeKey(_ id: String) throws(SQLiteError) -> Verdict {
        guard try keys.contains(id) else { return .failure(.unknownKey) }
        try keys.revoke(id, nowUnixSeconds: now.unixSeconds)
        hasDirectoryChanged = true
        return .success(.done)
    }

    /// Adds a certificate; one that is known can only be brought again to revoke it.
    func addCertificate(_ certificate: ProviderCertificate) throws(SQLiteError) -> Verdict {
        guard try certificates.contains(certificate.fingerprint) else {
            try certificates.add(certificate)
            if certificate.revokedUnixSeconds != nil { hasDirectoryChanged = true }
            return .success(.done)
        }
        guard let revoked = certificate.revokedUnixSeconds else { return .failure(.alreadyExists) }
        try certificates.revoke(certificate.fingerprint, atUnixSeconds: revoked)
        hasDirectoryChanged = true
        return .success(.done)
    }

    func revokeCertificate(_ fingerprint: [UInt8]) throws(SQLiteError) -> Verdict {
        guard try certificates.contains(fingerprint) else { return .failure(.unknownCertificate) }
        try certificates.revoke(fingerprint, atUnixSeconds: now.unixSeconds)
        hasDirectoryChanged = true
        return .success(.done)
    }

    // MARK: Devices and counts

    func addEnrolmentCode(_ hash: [UInt8], _ expiresUnixSeconds: Int64) throws(SQLiteError) -> Verdict {
        guard try !enrolmentCodes.contains(hash) else { return .failure(.alreadyExists) }
        try enrolmentCodes.add(hash, expiresUnixSeconds: expiresUnixSeconds)
        return .success(.done)
    }

    func devices(_ answer: ReplyAddress) throws(SQLiteError) -> Verdict? {
        var list: [StoreEvent.DeviceDescription] = []
        for row in try devices.all() { list.append(try description(of: row)) }
        events.append(.question(.devices(list, answer: answer)))
        return nil
    }

    func device(_ id: DeviceID, _ answer: ReplyAddress) throws(SQLiteError) -> Verdict? {
        guard let stored = Int64(exactly: id.rawValue), let row = try devices.find(stored) else {
            return .failure(.unknownDevice)
        }
        events.append(.question(.device(try description(of: row), answer: answer)))
        return nil
    }

    func counts(_ answer: ReplyAddress) -> Verdict? {
        events.append(.question(.counts(answer: answer)))
        return nil
    }

    /// All but what only the device's stream tells.
    private func description(of row: DeviceTable.Row) throws(SQLiteError) -> StoreEvent.DeviceDescription {
        let device = AdminAPI.Device(
            deviceID: row.id.text, name: row.name, platform: row.platform,
            enrolledAt: row.enrolledUnixMilliseconds.unixSeconds, connected: false,
            topics: try registrations.liveTopicNames(of: row.id),
            pendingCount: try waitingCount(of: row.id) + broadcasts.count(of: row.id),
            seenAt: row.seenUnixMilliseconds?.unixSeconds)
        return StoreEvent.DeviceDescription(id: row.id, device: device, nowUnixSeconds: now.unixSeconds)
    }

    // MARK: The directory

    /// What loops must know of apps, keys and certificates.
    func directory(version: UInt64) throws(SQLiteError) -> Directory {
        let webhooks = try webhooks.all()
        let topics = try topics.all().map { row in
            var topic = row.topic
            topic.webhook = webhooks[topic.id]
            return (topic.id, topic)
        }
        let keys = try keys.all().map { ($0.id, $0) }
        return Directory(
            version: version, topics: Dictionary(topics) { first, _ in first },
            keys: Dictionary(keys) { first, _ in first },
            revokedCertificates: try certificates.revokedFingerprints(), policyVersion: try state.policyVersion())
    }
}

extension AdminAPI.Key {
    /// What an administrator sees of a key.
    fileprivate init(_ key: SigningKey) {
        self.init(
            keyID: key.id, teamID: key.teamID, topics: key.topics, createdAt: key.createdUnixSeconds,
            revokedAt: key.revokedUnixSeconds, environment: key.environment)
    }
}
