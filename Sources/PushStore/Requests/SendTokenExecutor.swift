// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Executes the requests about send tokens, and lists those to whom they send.
final class SendTokenExecutor {
    private let tokens: SendTokenTable
    private let topics: TopicTable
    private let registrations: RegistrationTable
    private let transaction: StoreTransaction

    init(_ tables: SharedTables, _ transaction: StoreTransaction) {
        tokens = tables.sendTokens
        topics = tables.topics
        registrations = tables.registrations
        self.transaction = transaction
    }

    func execute(_ request: SendTokenRequest) throws(SQLError) -> RequestResult {
        switch request {
        case .add(let hash, let topic, let name, let expiresAt): return try add(hash, topic, name, expiresAt)
        case .list(let name):
            guard let name else { return .success(.sendTokens(try tokens.all())) }
            guard let topic = try topics.find(name)?.topic.id else { return .failure(.unknownTopic) }
            return .success(.sendTokens(try tokens.all().filter { $0.topic == topic }))
        case .revoke(let id):
            guard let token = try tokens.find(id) else { return .failure(.unknownSendToken) }
            try tokens.remove(id)
            transaction.noteDirectoryChange()
            return .success(.sendTokens([token]))
        }
    }

    private func add(
        _ hash: [UInt8], _ name: TopicName, _ purpose: String, _ expiresAt: Timestamp?
    ) throws(SQLError) -> RequestResult {
        guard let topic = try topics.find(name)?.topic.id else { return .failure(.unknownTopic) }
        try tokens.removeExpired(now: transaction.now)
        guard purpose.utf8.count <= Limits.displayNameByteCountMax,
            try tokens.all().count < Limits.sendTokenCountMax
        else { return .failure(.tooMany) }
        let token = SendToken(
            hash: hash, topic: topic, name: purpose, createdAt: transaction.now.roundedDownToSeconds,
            expiresAt: expiresAt)
        guard try tokens.find(token.id) == nil else { return .failure(.alreadyExists) }
        try tokens.add(token)
        transaction.noteDirectoryChange()
        return .success(.done)
    }

    /// Lists the given devices, or all, on which an app is registered, at most `countMax`.
    func recipients(_ topic: TopicID, devices: [DeviceID]?, countMax: Int) throws(SQLError) -> RequestResult {
        if let devices {
            var found: [Recipient] = []
            for device in devices.prefix(countMax) {
                guard let stored = Int64(exactly: device.rawValue),
                    let row = try registrations.find(device: stored, topic: topic), row.isLive
                else { continue }
                let contents = DeviceTokenContents(device: device, topic: topic, generation: row.generation)
                if !found.contains(where: { $0.contents == contents }) { found.append(Recipient(contents: contents)) }
            }
            return .success(.recipients(found, isComplete: true))
        }
        return .unfinished(
            Listing(countMax: countMax) { [registrations] (after: DeviceID?, countMax: Int) throws(SQLError) in
                try registrations.recipients(of: topic, after: after, countMax: countMax)
            } answer: { list in
                .success(.recipients(list.rows, isComplete: list.next == nil))
            })
    }
}
