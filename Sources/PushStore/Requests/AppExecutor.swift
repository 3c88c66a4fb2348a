// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Executes the requests of administrators about apps.
final class AppExecutor {
    private let topics: TopicTable
    private let keys: KeyTable
    private let certificates: CertificateTable
    private let webhooks: WebhookTable
    private let sendTokens: SendTokenTable
    private let state: StateTable
    private let transaction: StoreTransaction
    private let channels: ChannelExecutor
    private let registrations: RegistrationExecutor
    private let policies: PolicyExecutor

    init(
        _ tables: SharedTables, _ transaction: StoreTransaction, _ channels: ChannelExecutor,
        _ registrations: RegistrationExecutor, _ policies: PolicyExecutor
    ) {
        topics = tables.topics
        keys = tables.keys
        certificates = tables.certificates
        webhooks = tables.webhooks
        sendTokens = tables.sendTokens
        state = tables.state
        self.transaction = transaction
        self.channels = channels
        self.registrations = registrations
        self.policies = policies
    }

    func addApp(
        _ topic: TopicName, _ name: String, _ team: String, _ checks: PayloadChecks, _ allowsBroadcasts: Bool
    ) throws(SQLError) -> RequestResult {
        guard topic.text.utf8.count <= Limits.topicByteCountMax, name.utf8.count <= Limits.displayNameByteCountMax
        else {
            return .failure(.tooMany)
        }
        guard try topics.find(topic) == nil else { return .failure(.alreadyExists) }
        let new = Topic(
            id: TopicID(rawValue: 0), name: topic, teamID: team, checks: checks, allowsBroadcasts: allowsBroadcasts)
        try topics.add(TopicTable.Row(topic: new, displayName: name), now: transaction.now)
        transaction.add(.count(.appAdded))
        transaction.noteDirectoryChange()
        return .success(.done)
    }

    /// Changes the given values of an app; removes its channels when broadcasts are no longer allowed.
    func changeApp(
        _ topic: TopicName, _ name: String?, _ checks: PayloadChecks?, _ allowsBroadcasts: Bool?
    ) throws(SQLError) -> RequestResult {
        guard (name ?? "").utf8.count <= Limits.displayNameByteCountMax else { return .failure(.tooMany) }
        guard try topics.find(topic) != nil else { return .failure(.unknownTopic) }
        return .unfinished(
            Removal { [unowned self] () throws(SQLError) in
                guard var row = try topics.find(topic) else { return .failure(.unknownTopic) }
                if row.topic.allowsBroadcasts, allowsBroadcasts == false {
                    guard try channels.removeSome(of: row.topic.id) else { return .success(false) }
                }
                row.displayName = name ?? row.displayName
                row.topic.checks = checks ?? row.topic.checks
                row.topic.allowsBroadcasts = allowsBroadcasts ?? row.topic.allowsBroadcasts
                try topics.change(row)
                transaction.noteDirectoryChange()
                return .success(true)
            })
    }

    /// Removes an app with its channels and registrations.
    ///
    /// Its device tokens become `Unregistered`.
    func removeApp(_ topicName: TopicName) throws(SQLError) -> RequestResult {
        guard let topic = try topics.find(topicName)?.topic.id else { return .failure(.unknownTopic) }
        return .unfinished(
            Removal { [unowned self] () throws(SQLError) in
                guard try channels.removeSome(of: topic), try registrations.endSome(of: topic) else {
                    return .success(false)
                }
                try finishRemoval(of: topic, topicName)
                return .success(true)
            })
    }

    private func finishRemoval(of topic: TopicID, _ topicName: TopicName) throws(SQLError) {
        try webhooks.remove(topic)
        try sendTokens.removeAll(of: topic)
        try policies.removeAll(topic: topicName)
        try topics.remove(topic, now: transaction.now)
        transaction.add(.stream(.dropUndelivered(topic, on: nil)))
        transaction.add(.count(.appRemoved(topic)))
        transaction.noteDirectoryChange()
    }

    func apps() -> RequestResult {
        .unfinished(
            Listing { [topics, webhooks] (after: TopicName?, countMax: Int) throws(SQLError) in
                var page = try topics.page(after: after, countMax: countMax)
                for index in page.rows.indices {
                    page.rows[index].topic.webhook = try webhooks.find(page.rows[index].topic.id)
                }
                return page
            } answer: {
                .memoryQuery(.apps($0.rows))
            })
    }

    func app(_ topic: TopicName) throws(SQLError) -> RequestResult {
        guard var row = try topics.find(topic) else { return .failure(.unknownTopic) }
        row.topic.webhook = try webhooks.find(row.topic.id)
        return .memoryQuery(.app(row))
    }

    // MARK: The directory

    /// Returns a new directory with all apps, keys and revoked certificates.
    func directory(version: UInt64) throws(SQLError) -> Directory {
        let webhooks = try webhooks.all()
        let topics = try topics.all().map { row in
            var topic = row.topic
            topic.webhook = webhooks[topic.id]
            return (topic.id, topic)
        }
        let keys = try keys.all().map { ($0.id, $0) }
        let tokens = try sendTokens.all().map { ($0.hash, $0) }
        return Directory(
            version: version, topics: Dictionary(topics) { first, _ in first },
            keys: Dictionary(keys) { first, _ in first },
            revokedCertificates: try certificates.revokedFingerprints(),
            sendTokens: Dictionary(tokens) { first, _ in first }, policyVersion: try state.policyVersion(),
            authorityVersion: try state.authorityVersion())
    }
}
