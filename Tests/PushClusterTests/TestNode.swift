// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushAPI
import PushCore
import PushNet
import PushPostgres
import PushStore
import TestSupport
import Testing

@testable import PushCluster

/// A node with a real store in PostgreSQL, and a synchronous interface.
final class TestNode {
    static let topic = TopicName("com.example.App")

    let store: PostgresStore
    let replies = ReplyLog()
    private var nextExchange: Int32 = 0
    private var hasDirectory = false

    convenience init(
        _ postgres: PostgresFixture, name: String = "test", version: String = "1",
        registrationLifeSeconds: Int64? = nil, pendingPerTopicCountMax: Int? = nil, hasTrace: Bool = true,
        isOneOfSeveral: Bool = false, reviewMilliseconds: Int64 = 60_000, countsMilliseconds: Int64 = 100,
        shards: [PostgresShardFixture] = []
    ) throws {
        try self.init(
            address: postgres.address, shards: shards.map(\.address), schema: postgres.schema, name: name,
            version: version,
            registrationLifeSeconds: registrationLifeSeconds, pendingPerTopicCountMax: pendingPerTopicCountMax,
            hasTrace: hasTrace, isOneOfSeveral: isOneOfSeveral, reviewMilliseconds: reviewMilliseconds,
            countsMilliseconds: countsMilliseconds)
    }

    init(
        address: String, shards: [String] = [], schema: String, name: String = "test", version: String = "1",
        registrationLifeSeconds: Int64? = nil, pendingPerTopicCountMax: Int? = nil, hasTrace: Bool = true,
        isOneOfSeveral: Bool = false, reviewMilliseconds: Int64 = 60_000, countsMilliseconds: Int64 = 100
    ) throws {
        var store = StoreConfiguration(path: "") { .now }
        store.hasTrace = hasTrace
        if let pendingPerTopicCountMax { store.pendingPerTopicCountMax = pendingPerTopicCountMax }
        store.registrationLifeSeconds = registrationLifeSeconds
        store.onNotice = { [replies] in replies.note($0) }
        var configuration = PostgresStoreConfiguration(
            address: try PostgresAddress(address), node: name, version: version, store: store)
        configuration.schema = schema
        configuration.furtherShards = try shards.map { try PostgresAddress($0) }
        configuration.sweepQuestionMilliseconds = 100
        configuration.cleanMilliseconds = 100
        // A busy machine must not change an answer.
        configuration.patienceMilliseconds = 30_000 * Int64(Patience.factor)
        configuration.reviewMilliseconds = reviewMilliseconds
        configuration.countsMilliseconds = countsMilliseconds
        if isOneOfSeveral {
            // No server listens there, so the nodes inform each other through PostgreSQL.
            let address = LinkedNode.Address("127.0.0.1:1")
            configuration.links = LinkConfiguration(
                address: try #require(address), authority: try .make(), accepted: try Mailbox(),
                log: EventLog(threshold: .error, isJournal: false))
        }
        self.store = try PostgresStore(configuration)
        self.store.start(receivers: [replies]) { [replies] in replies.note($0) }
    }

    deinit { store.stop() }

    /// Returns an address that was not used before.
    func address() -> ReplyAddress {
        nextExchange += 1
        return ReplyAddress(loop: 0, slot: 1, generation: 1, exchange: nextExchange)
    }

    // MARK: Requests

    func perform(_ request: StoreRequest) throws -> Result<StoreAnswer, StoreRefusal> {
        let address = address()
        store.submit([.perform(request, answer: address)])
        return try replies.first("an answer to \(request)") {
            if case .performed(let result, address) = $0 { result } else { nil }
        }
    }

    /// Performs a request that must succeed.
    @discardableResult
    func succeed(_ request: StoreRequest) throws -> StoreAnswer { try perform(request).get() }

    /// Adds an app, and registers it on a new device.
    func registeredDevice(_ number: UInt64 = 1) throws -> TestDevice {
        if case .failure(.unknownTopic) = try perform(.control(.app(topic: Self.topic))) {
            try succeed(.control(.addApp(topic: Self.topic, name: "App", teamID: "TEAM000000", allowsBroadcasts: true)))
        }
        let hash = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32)
        let id = DeviceID(rawValue: number)
        try succeed(
            .enrol(.init(codeHash: nil, device: id, secretHash: { _ in hash }, name: "test", platform: "linux")))
        let credential = DeviceCredential(device: id, secretHash: hash)
        let answer = try succeed(.device(.register(topic: Self.topic), by: credential))
        guard case .registered(let contents) = answer else { throw MissingReply(what: "\(answer)") }
        return TestDevice(credential: credential, contents: contents)
    }

    // MARK: Streams

    /// Opens a stream, and waits until it is attached; tries again while the node has no connection yet.
    func attach(_ device: TestDevice) throws -> ReplyAddress {
        while true {
            let stream = address()
            store.submit([.attach(device.credential, stream: stream)])
            let isAttached = try replies.first("attached") { reply -> Bool? in
                switch reply {
                case .attached(_, stream): true
                case .performed(.failure(.unavailable), stream): false
                default: nil
                }
            }
            if isAttached { return stream }
            usleep(10_000)
        }
    }

    /// Waits for the next notifications on a stream.
    func received(_ count: Int, on stream: ReplyAddress) throws -> [PendingNotification] {
        var found: [PendingNotification] = []
        while found.count < count {
            found += try replies.first("\(count) notifications, after \(found.count)") {
                if case .deliver(let notifications, stream) = $0 { notifications } else { nil }
            }
        }
        return found
    }

    func acknowledge(
        _ notifications: [PendingNotification], by device: TestDevice, _ outcome: DeviceAPI.Outcome = .delivered
    ) {
        let acknowledgements = notifications.map {
            DeviceAPI.Acknowledgement(id: $0.sequence, outcome: outcome)
        }
        store.submit([.acknowledge(acknowledgements, by: device.contents.device)])
    }

    // MARK: Notifications

    /// Waits until the node has read the control data; before that, loops refuse notifications themselves.
    private func awaitDirectory() {
        guard !hasDirectory else { return }
        hasDirectory = true
        _ = try? replies.first("a directory") { if case .directory = $0 { true } else { nil } }
    }

    /// Submits a notification; returns the address of its answer.
    func submit(_ text: String, to contents: DeviceTokenContents, collapseID: String? = nil, isNowOrNever: Bool = false)
        -> ReplyAddress
    {
        awaitDirectory()
        let address = address()
        let notification = Notification(
            address: contents, apnsID: Array("00000000-0000-0000-0000-000000000000".utf8),
            uniqueID: UniqueID(high: 1, low: UInt64.random(in: 1...UInt64.max)),
            suffixedTopic: Self.topic.text, pushType: .alert, priority: 10,
            expiration: isNowOrNever ? .unixEpoch : nil, collapseID: collapseID.map { Array($0.utf8) },
            payload: Array(text.utf8), acceptedAt: .now)
        store.submit([.accept(notification, answer: address)])
        return address
    }

    /// Creates a channel of the app.
    func createChannel(_ policy: MessageStoragePolicy) throws -> ChannelID {
        let id = ChannelID(high: 1, low: .random(in: 1 ... .max))
        try succeed(.control(.createChannel(id, topic: Self.topic, environment: .production, policy: policy)))
        return id
    }

    func subscribe(_ device: TestDevice, to channel: ChannelID) throws {
        try succeed(.device(.subscribe(topic: Self.topic, channel: channel), by: device.credential))
    }

    /// Publishes a broadcast; returns nil if it was accepted.
    func publish(_ text: String, to channel: ChannelID, of topic: TopicID, isNowOrNever: Bool = false) throws
        -> RejectionReason?
    {
        awaitDirectory()
        let address = address()
        let expiration = isNowOrNever ? Timestamp.unixEpoch : Timestamp.now.advanced(bySeconds: 600)
        let broadcast = Broadcast(
            channel: channel, topic: topic, environment: .production,
            requestID: Array("00000000-0000-0000-0000-000000000000".utf8),
            uniqueID: UniqueID(high: 2, low: .random(in: 1 ... .max)), suffixedTopic: Self.topic.text, priority: 10,
            expiration: expiration, payload: Array(text.utf8), acceptedAt: .now)
        store.submit([.publish(broadcast, answer: address)])
        return try answer(to: address)
    }

    /// Waits for the answer to a notification or a broadcast; nil if it was accepted.
    func answer(to address: ReplyAddress) throws -> RejectionReason? {
        try replies.first("an answer to a notification") { reply -> RejectionReason?? in
            switch reply {
            case .accepted(address): .some(nil)
            case .refused(let reason, _, address): .some(reason)
            default: nil
            }
        }
    }

    /// Sends a notification and waits for its answer.
    func send(_ text: String, to contents: DeviceTokenContents, collapseID: String? = nil) throws -> RejectionReason? {
        try answer(to: submit(text, to: contents, collapseID: collapseID))
    }
}

/// A device of a test.
struct TestDevice {
    let credential: DeviceCredential
    let contents: DeviceTokenContents
}

/// The error for a missing or unexpected reply.
struct MissingReply: Error {
    var what: String
}

/// Receives the replies of a store, and lets a test wait for them.
// Safety: `condition` guards the properties.
final class ReplyLog: StoreReplyReceiver, @unchecked Sendable {
    private let condition = NSCondition()
    private var replies: [StoreReply] = []
    private var failures: [any StoreFailure] = []
    private var noted: [StoreNotice] = []

    func receive(_ new: [StoreReply]) {
        condition.withLock {
            replies += new
            condition.broadcast()
        }
    }

    func note(_ failure: any StoreFailure) { condition.withLock { failures.append(failure) } }

    func note(_ notice: StoreNotice) { condition.withLock { noted.append(notice) } }

    /// The notices for administrators.
    var notices: [StoreNotice] { condition.withLock { noted } }

    /// The failures after which the node must exit.
    var fatal: [any StoreFailure] { condition.withLock { failures } }

    /// Waits for the first reply that a closure accepts, and removes it.
    @discardableResult
    func first<Value>(_ what: String, _ take: (StoreReply) -> Value?) throws -> Value {
        let deadline = Date(timeIntervalSinceNow: Double(30 * Patience.factor))
        condition.lock()
        defer { condition.unlock() }
        while true {
            for (index, reply) in replies.enumerated() {
                guard let value = take(reply) else { continue }
                replies.remove(at: index)
                return value
            }
            guard condition.wait(until: deadline) else { throw MissingReply(what: "\(what), among \(replies)") }
        }
    }

    /// Returns whether a reply is waiting that a closure accepts.
    func has(_ isWanted: (StoreReply) -> Bool) -> Bool { condition.withLock { replies.contains(where: isWanted) } }
}

extension PendingNotification {
    /// The payload as a text.
    var text: String { String(decoding: notification.payload, as: UTF8.self) }
}
