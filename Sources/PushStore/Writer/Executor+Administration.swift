// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
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

    /// Changes the given values of an app; removes its channels when broadcasts are no longer allowed.
    func changeApp(
        _ topic: String, _ name: String?, _ checks: PayloadChecks?, _ allowsBroadcasts: Bool?, _ answer: ReplyAddress
    ) throws(SQLiteError) -> Verdict? {
        guard (name ?? "").utf8.count <= Limits.displayNameByteCountMax else { return .failure(.tooMany) }
        guard try topics.find(topic) != nil else { return .failure(.unknownTopic) }
        return begin(
            Removal(answer) { [unowned self] () throws(SQLiteError) in
                guard var row = try topics.find(topic) else { return .failure(.unknownTopic) }
                if row.topic.allowsBroadcasts, allowsBroadcasts == false {
                    guard try removeSomeChannels(of: row.topic.id) else { return .success(false) }
                }
                row.displayName = name ?? row.displayName
                row.topic.checks = checks ?? row.topic.checks
                row.topic.allowsBroadcasts = allowsBroadcasts ?? row.topic.allowsBroadcasts
                try topics.change(row)
                hasDirectoryChanged = true
                return .success(true)
            })
    }

    /// Removes an app with its channels and registrations.
    ///
    /// Its device tokens become `Unregistered`.
    func removeApp(_ topicName: String, _ answer: ReplyAddress) throws(SQLiteError) -> Verdict? {
        guard let topic = try topics.find(topicName)?.topic.id else { return .failure(.unknownTopic) }
        return begin(
            Removal(answer) { [unowned self] () throws(SQLiteError) in
                guard try removeSomeChannels(of: topic), try endSomeRegistrations(of: topic) else {
                    return .success(false)
                }
                try finishRemoval(of: topic, topicName)
                return .success(true)
            })
    }

    private func finishRemoval(of topic: TopicID, _ topicName: String) throws(SQLiteError) {
        try webhooks.remove(topic)
        if try policies.removeAll(topic: topicName) { try notePolicyChange() }
        try topics.remove(topic, now: now)
        events.append(.stream(.silence(topic, on: nil)))
        events.append(.holding(.appRemoved(topic)))
        hasDirectoryChanged = true
    }

    func apps(_ answer: ReplyAddress) -> Verdict? {
        begin(
            Listing { [topics, webhooks] (after: String?, countMax: Int) throws(SQLiteError) in
                var page = try topics.page(after: after ?? "", countMax: countMax)
                for index in page.rows.indices {
                    page.rows[index].topic.webhook = try webhooks.find(page.rows[index].topic.id)
                }
                return page
            } answer: {
                .question(.apps($0.rows, answer: answer))
            })
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

    func allKeys(_ answer: ReplyAddress) -> Verdict? {
        begin(
            Listing { [keys] (after: KeyTable.Place?, countMax: Int) throws(SQLiteError) in
                try keys.page(after: after, countMax: countMax)
            } answer: {
                .success(.keys($0.rows.map(AdminAPI.Key.init)), to: answer)
            })
    }

    func revokeKey(_ id: String) throws(SQLiteError) -> Verdict {
        guard try keys.contains(id) else { return .failure(.unknownKey) }
        try keys.revoke(id, nowUnixSeconds: now.unixSeconds)
        hasDirectoryChanged = true
        return .success(.done)
    }

    /// Adds a certificate.
    ///
    /// A known certificate is accepted again only to revoke it.
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

    func allCertificates(_ answer: ReplyAddress) -> Verdict? {
        begin(
            Listing { [certificates] (after: CertificateTable.Place?, countMax: Int) throws(SQLiteError) in
                try certificates.page(after: after, countMax: countMax)
            } answer: {
                .success(.certificates($0.rows), to: answer)
            })
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

    func revokeEnrolmentCode(_ id: [UInt8]) throws(SQLiteError) -> Verdict {
        try enrolmentCodes.deleteUnused(id: id, now: now) ? .success(.done) : .failure(.unknownCode)
    }

    /// Lists devices after one, which may have been removed since.
    func devices(_ after: DeviceID?, _ countMax: Int, _ answer: ReplyAddress) throws(SQLiteError) -> Verdict? {
        var start: DeviceTable.Place?
        if let after {
            guard let stored = Int64(exactly: after.rawValue), let place = try devices.place(of: stored) else {
                return .failure(.unknownDevice)
            }
            start = place
        }
        let read = { [unowned self] (after: DeviceTable.Place?, countMax: Int) throws(SQLiteError) in
            let page = try devices.page(after: after, countMax: countMax)
            var list = ListPage<StoreEvent.DeviceDescription, DeviceTable.Place>(next: page.next)
            for row in page.rows { list.rows.append(try description(of: row)) }
            return list
        }
        return begin(
            Listing(after: start, countMax: max(countMax, 1), read: read) { list in
                let next = list.next.map { DeviceID(stored: $0.id) }
                return .question(.devices(list.rows, next: next, answer: answer))
            })
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

    /// Returns the description of a device without the values that come from its stream.
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

    /// Returns a new directory with all apps, keys and revoked certificates.
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
    /// Returns the administrator's view of a key.
    fileprivate init(_ key: SigningKey) {
        self.init(
            keyID: key.id, teamID: key.teamID, topics: key.topics, createdAt: key.createdUnixSeconds,
            revokedAt: key.revokedUnixSeconds, environment: key.environment)
    }
}
