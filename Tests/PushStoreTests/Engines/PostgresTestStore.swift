// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushPostgres
import PushSQL
@testable import PushStore
import TestSupport

/// A store in a schema of PostgreSQL that performs requests on the test's thread.
///
/// The store replaces a node: it inserts notifications, connects devices, and counts the effects of requests.
final class PostgresTestStore: RequestTarget {
    /// The number of the node.
    static let node: Int64 = 5

    let clock = TestClock(milliseconds: TestStore.startMilliseconds)
    let fixture: PostgresFixture
    private(set) var connection: PostgresConnection
    private(set) var requests: PostgresRequests
    /// The effects of each committed transaction.
    private(set) var effects: [PostgresEffects] = []
    /// The ranges of the pauses after conflicts, in milliseconds.
    private(set) var pauseRanges: [ClosedRange<Int>] = []
    /// The ID of the last broadcast that was accepted.
    private(set) var lastPublished: Int64?
    /// Called in each transaction of a request after it has its snapshot.
    var afterBegin: (() throws -> Void)?
    private var tables: SharedTables
    private let configuration: StoreConfiguration
    /// The last ID that the node assigned.
    var lastID: Int64 = 0
    /// The events that are written before a search.
    private let trace = NodeTrace()
    private var acceptedCount = 0
    private var droppedCount = 0

    /// Creates the tables if they do not exist.
    init(_ fixture: PostgresFixture, _ adjust: (inout StoreConfiguration) -> Void = { _ in }) throws {
        self.fixture = fixture
        let clock = clock
        var configuration = StoreConfiguration(path: "") { Timestamp(unixMilliseconds: clock.now) }
        adjust(&configuration)
        self.configuration = configuration
        connection = try fixture.connect()
        try PostgresSchema.open(connection, at: "the test's server") { [connection] (body) throws(SQLError) in
            try connection.transaction(body)
        }
        tables = try SharedTables(connection, node: Self.node)
        requests = try PostgresRequests(
            connection, StoreBounds(configuration),
            .init(
                node: Self.node, now: configuration.now, lastAnswered: { 0 }, transaction: { (_) throws(SQLError) in },
                pause: { _ in }))
        try reopen()
    }

    func reopen() throws {
        let connection = try fixture.connect()
        self.connection = connection
        tables = try SharedTables(connection, node: Self.node)
        var environment = PostgresRequests.Environment(
            node: Self.node, now: configuration.now, lastAnswered: { [unowned self] in lastID },
            transaction: { [unowned self] (body) throws(SQLError) in
                try connection.transaction { () throws(SQLError) in
                    try disturb()
                    try body()
                }
            }, pause: { [unowned self] in pauseRanges.append($0) })
        environment.hasTrace = true
        environment.channelPerAppCountMax = configuration.channelPerAppCountMax
        requests = try PostgresRequests(connection, StoreBounds(configuration), environment)
    }

    private func nextID() -> Int64 {
        lastID += 1
        return lastID
    }

    private func disturb() throws(SQLError) {
        guard let afterBegin else { return }
        try connection.execute("SELECT 1")
        do {
            try afterBegin()
        } catch let error as SQLError {
            throw error
        } catch {
            preconditionFailure("the other store failed: \(error)")
        }
    }

    // MARK: Requests

    func perform(_ request: StoreRequest) throws -> Result<StoreAnswer, StoreRefusal> {
        try answer(request).result
    }

    /// Performs a request; returns the whole answer.
    func answer(_ request: StoreRequest) throws -> PostgresRequests.Answer {
        try requests.perform(request) { new in
            effects.append(new)
            trace.record(new, at: Timestamp(unixMilliseconds: clock.now))
        }
    }

    /// Returns the effects of a request, one for each transaction that has any.
    func effects(of request: StoreRequest) throws -> [PostgresEffects] {
        let count = effects.count
        try succeed(request)
        return Array(effects[count...])
    }

    @discardableResult
    func publish(_ broadcast: Broadcast) throws -> Acceptance {
        let number = nextID()
        let result = try requests.publish(broadcast, number: number) { effects.append($0) }
        if case .refused(let reason) = result { return .refused(reason, ended: nil) }
        acceptedCount += 1
        lastPublished = number
        return .accepted
    }

    // MARK: The work of a node

    func counts() throws -> AdminAPI.Counts {
        guard case .counts(var counts) = try succeed(.allDevices(.counts)) else { throw MissingReply(what: "counts") }
        counts.accepted = acceptedCount
        counts.dropped = droppedCount
        for reason in effects.flatMap({ $0.removals.map(\.reason) + $0.broadcastRemovals.map(\.reason) }) {
            switch reason {
            case .acknowledged: counts.acknowledged += 1
            case .collapsed: counts.collapsed += 1
            case .expired: counts.expired += 1
            case .dropped: counts.dropped += 1
            case .unregistered: counts.unregistered += 1
            }
        }
        return counts
    }

    func connect(_ device: TestDevice) throws {
        try succeed(.device(.identify, by: device.credential))
        try connection.execute(
            text: """
                INSERT INTO nodes(number, name, instance, seen_at, id_ceiling, speaks, version, draining)
                    VALUES (\(Self.node), 'test', 77, clock_timestamp(), 0, 1, '1', 0)
                    ON CONFLICT (number) DO UPDATE SET seen_at = clock_timestamp();
                INSERT INTO hosts VALUES (\(device.number), 77, 1)
                """)
    }

    @discardableResult
    func accept(_ notification: Notification) throws -> Acceptance {
        let token = notification.address
        guard let row = try tables.registrations.find(device: token.device.stored, topic: token.topic) else {
            return .refused(.unregistered, ended: clock.now)
        }
        if let (reason, ended) = row.rejection(of: token.generation) {
            return .refused(reason, ended: ended?.unixMilliseconds ?? clock.now)
        }
        acceptedCount += 1
        let id = nextID()
        let (pending, now) = (
            PendingNotification(sequence: id, notification: notification), Timestamp(unixMilliseconds: clock.now)
        )
        trace.recordAccepted(pending, isAgain: false, at: now)
        guard !row.isRefused, !notification.isExpired(now: now) else {
            if row.isRefused { droppedCount += 1 }
            trace.record(
                row.isRefused ? .dropped : .expired, row.isRefused ? .refusedByDevice : .none, of: pending, at: now)
            return .accepted
        }
        trace.record(.stored, of: pending, at: now)
        var record: [UInt8] = []
        PendingRecord.append(pending, to: &record)
        let insert = try connection.prepare(
            """
            INSERT INTO pending(device, key, id, topic, record) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (device, key) DO UPDATE SET id = excluded.id, record = excluded.record
            """)
        insert.bind(token.device.stored, at: 1)
        insert.bind(RowKey(of: notification, id: id).rawValue, at: 2)
        insert.bind(id, at: 3)
        insert.bind(Int64(token.topic.rawValue), at: 4)
        insert.bind(record, at: 5)
        try insert.run()
        return .accepted
    }

    func search(_ query: TraceQuery) throws -> TraceFindings {
        for row in TraceRow.pack(trace.take()) { _ = try requests.traces.write(row, mayExist: false) }
        guard case .trace(let findings) = try succeed(.allDevices(.trace(query))) else {
            throw MissingReply(what: "a trace")
        }
        return findings
    }

    func firstDirectory() throws -> Directory { try requests.directory() }

    func waiting(_ device: TestDevice) throws -> [String] {
        var waiting: [PendingNotification] = []
        let select = try connection.prepare("SELECT id, topic, record FROM pending WHERE device = ?")
        select.bind(device.id.stored, at: 1)
        while try select.step() {
            let record = select.bytes(2)
            let decoded = PendingRecord.decode(
                record.span, sequence: select.int64(0), device: device.id, topic: TopicID(stored: select.int64(1)))
            guard let decoded else { throw MissingReply(what: "an intact record") }
            waiting.append(decoded)
        }
        let now = Timestamp(unixMilliseconds: clock.now)
        try tables.broadcasts.forEachWaiting(of: device.id, after: 0, now: now, countMax: 100) { pending, isIntact in
            if isIntact { waiting.append(pending) }
        }
        return waiting.sorted { $0.sequence < $1.sequence }.map(\.text)
    }
}

extension PostgresFixture {
    /// Opens a connection with the schema, with timeouts that a busy machine does not reach.
    func connect() throws -> PostgresConnection {
        var settings = PostgresSettings(applicationName: "posthorn-test", schema: schema)
        settings.statementTimeout = .seconds(60)
        settings.answerTimeout = .seconds(120)
        return try PostgresConnection(to: PostgresAddress(address), settings: settings)
    }
}
