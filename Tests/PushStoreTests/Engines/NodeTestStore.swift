// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushAPI
@testable import PushCluster
import PushCore
import PushPostgres
@testable import PushStore
import TestSupport

/// A real node on PostgreSQL with a synchronous interface: `run` returns the replies to its commands.
///
/// The clock of the test decides about expiry and is the time of requests. Numbers, leases and heartbeats have
/// PostgreSQL's time, so the clock must not be behind it.
final class NodeTestStore: StreamTarget {
    let promises = EnginePromises.postgres
    let clock = TestClock(milliseconds: TestStore.startMilliseconds)
    private let fixture: PostgresFixture
    private let adjust: (inout StoreConfiguration) -> Void
    private var node: PostgresStore
    private var collector = Collector()
    private var nextExchange: Int32 = 1
    /// The streams that were opened since the start of the node.
    private var streams: [ReplyAddress] = []
    /// The answers for which the next `run` waits.
    private var outstanding: Set<ReplyAddress> = []
    /// The replies that no caller has taken.
    private var received: [StoreReply] = []

    init(_ fixture: PostgresFixture, _ adjust: @escaping (inout StoreConfiguration) -> Void = { _ in }) throws {
        self.fixture = fixture
        self.adjust = adjust
        node = try Self.node(fixture, clock, adjust, after: nil)
        try start()
    }

    deinit { stop() }

    private static func node(
        _ fixture: PostgresFixture, _ clock: TestClock, _ adjust: (inout StoreConfiguration) -> Void,
        after earlier: InstanceID?
    ) throws -> PostgresStore {
        var store = StoreConfiguration(path: "") { Timestamp(unixMilliseconds: clock.now) }
        store.hasTrace = true
        adjust(&store)
        var configuration = PostgresStoreConfiguration(
            address: try PostgresAddress(fixture.address), node: "test", version: "1", store: store)
        configuration.schema = fixture.schema
        configuration.earlierInstance = earlier
        configuration.requestTime = store.now
        // The time of these tests is not that of PostgreSQL.
        configuration.clockDifferenceMillisecondsMax = .max
        return try PostgresStore(configuration)
    }

    private func start() throws {
        node.start(receivers: [collector]) { _ in }
        let deadline = Date(timeIntervalSinceNow: Double(30 * Patience.factor))
        // A node without a time from PostgreSQL refuses everything.
        while case .refused(.serviceUnavailable, _) = try probe() {
            guard Date() < deadline else { throw MissingReply(what: "a node that is ready") }
            usleep(5_000)
        }
        // The worker that answers reads the stored broadcasts first.
        _ = try counts()
    }

    /// Stops the node after its streams, like a server that stops.
    private func stop() {
        node.submit(streams.map { .detach(stream: $0) })
        node.stop()
        streams = []
    }

    func reopen() throws {
        stop()
        collector = Collector()
        (received, outstanding) = ([], [])
        node = try Self.node(fixture, clock, adjust, after: node.instance)
        try start()
    }

    func close(pendingCount: Int) throws -> [String] {
        stop()
        return []
    }

    func address() -> ReplyAddress {
        defer { nextExchange += 1 }
        return ReplyAddress(loop: 0, slot: 1, generation: 1, exchange: nextExchange)
    }

    // MARK: Commands

    /// Submits commands one by one, each after the answer to the one before; returns the replies without directories.
    func run(_ commands: [StoreCommand]) throws -> [StoreReply] {
        for command in commands {
            submit(command)
            try awaitAnswers()
            try settle(mayReadTwice: command.isRequest)
        }
        try awaitAnswers()
        try settle(mayReadTwice: false)
        defer { received = [] }
        return received
    }

    func begin(_ commands: [StoreCommand], deliveryCount: Int) throws -> [StoreReply] {
        commands.forEach(submit)
        try take("\(deliveryCount) deliveries") { $0.deliveredCount >= deliveryCount }
        outstanding = outstanding.filter { answer in !received.contains { $0.answers(answer) } }
        defer { received = [] }
        return received
    }

    private func submit(_ command: StoreCommand) {
        switch command {
        case .accept(_, let answer), .publish(_, let answer), .perform(_, let answer): outstanding.insert(answer)
        case .attach(_, let stream, _):
            streams.append(stream)
            outstanding.insert(stream)
        case .acknowledge, .detach, .usesDirectory, .host: break
        }
        node.submit([command])
    }

    private func awaitAnswers() throws {
        try take("answers at \(outstanding)") { [outstanding] replies in
            outstanding.allSatisfy { answer in replies.contains { $0.answers(answer) } }
        }
        outstanding = []
    }

    /// Adds replies to `received` until a condition is true.
    private func take(_ what: String, until isEnough: ([StoreReply]) -> Bool) throws {
        received += try collector.take(what) { isEnough(received + $0) }.filter {
            if case .directory = $0 { false } else { true }
        }
    }

    // MARK: Synchronization

    /// Waits until the node has done everything that earlier commands let it do.
    ///
    /// The node sends one batch at a time. So a probe is refused after the results of all batches before it: the look at
    /// a host, and the reading that follows it. A changed device is registered again, and may read a second time.
    private func settle(mayReadTwice: Bool) throws {
        for _ in 0..<(mayReadTwice ? 3 : 2) { _ = try probe() }
        // Rows are dropped by the worker that performs the requests of devices with odd secrets.
        let answer = address()
        let nobody = DeviceCredential(device: DeviceID(rawValue: .max >> 1), secretHash: [1])
        node.submit([.perform(.device(.identify, by: nobody), answer: answer)])
        try take("a refused request") { $0.contains { $0.answers(answer) } }
        received.removeAll { $0.answers(answer) }
    }

    /// Sends a notification to an unknown device, which is refused after a look at PostgreSQL; returns the answer.
    private func probe() throws -> Acceptance {
        let answer = address()
        let token = DeviceTokenContents(
            device: DeviceID(rawValue: .max >> 1), topic: TopicID(rawValue: 1), generation: 1)
        node.submit([.accept(.to(token, "probe", accepted: clock.now), answer: answer)])
        try take("the answer to a probe") { $0.contains { $0.answers(answer) } }
        defer { received.removeAll { $0.answers(answer) } }
        return try received.acceptance(at: answer)
    }

    // MARK: Requests

    func counts() throws -> AdminAPI.Counts {
        guard case .counts(let counts) = try succeed(.allDevices(.counts)) else { throw MissingReply(what: "counts") }
        return counts
    }

    func search(_ query: TraceQuery) throws -> TraceFindings {
        guard case .trace(let findings) = try succeed(.allDevices(.trace(query))) else {
            throw MissingReply(what: "a trace")
        }
        return findings
    }

    func firstDirectory() throws -> Directory {
        stop()
        collector = Collector()
        node = try Self.node(fixture, clock, adjust, after: node.instance)
        node.start(receivers: [collector]) { _ in }
        let replies = try collector.take("a directory") { !$0.isEmpty }
        guard case .directory(let directory) = replies.first else { throw MissingReply(what: "a directory") }
        return directory
    }
}

extension StoreCommand {
    /// Whether a worker performs the command, and may change a device.
    fileprivate var isRequest: Bool {
        switch self {
        case .perform, .acknowledge, .attach: true
        case .accept, .publish, .detach, .usesDirectory, .host: false
        }
    }
}
