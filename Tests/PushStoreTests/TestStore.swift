// SPDX-License-Identifier: Apache-2.0

import PushAPI
@testable import PushStore
import PushCore
import PushNet
import PushSQLite
import TestSupport

/// A real store in a temporary file with a synchronous interface: `run` returns the replies to its commands.
final class TestStore: StreamTarget {
    static let startMilliseconds: Int64 = 1_800_000_000_000
    static let start = Timestamp(unixMilliseconds: startMilliseconds)

    let promises = EnginePromises.sqlite
    let path: String
    let clock = TestClock(milliseconds: TestStore.startMilliseconds)
    let fatal = Told<StoreError>()
    let notices = Told<StoreNotice>()
    private(set) var store: SQLiteStore
    private(set) var collectors: [Collector]
    private let directory: TemporaryDirectory
    private let configuration: SQLiteStore.Configuration
    private var nextExchange: Int32 = 1
    /// The writer whose turns this thread runs; nil if the store has its own thread.
    private var writer: Writer?

    /// Opens a new file, or an existing one.
    init(
        in directory: TemporaryDirectory? = nil, path: String? = nil, loopCount: Int = 1, hostCount: Int = 0,
        isStepwise: Bool = false, _ adjust: (inout SQLiteStore.Configuration) -> Void = { _ in }
    ) throws {
        self.directory = try directory ?? TemporaryDirectory()
        self.path = path ?? self.directory.path(of: "posthorn.sqlite")
        let clock = clock
        var configuration = SQLiteStore.Configuration(path: self.path) { Timestamp(unixMilliseconds: clock.now) }
        // The interval is much longer than any test, so that a sweep runs only in tests that change it.
        configuration.sweepIntervalMilliseconds = 3_600_000
        configuration.pendingPerDeviceCountMax = .max
        // A device is away as soon as its stream closes. Tests of the time in between change it.
        configuration.awayMilliseconds = 0
        // A slice never ends, so that commands are executed in their order. Tests of slices set a clock.
        configuration.monotonicTime = { .past }
        // The trace is enabled, as it is by default in the server.
        configuration.hasTrace = true
        let notices = notices
        configuration.onNotice = { notices.add($0) }
        adjust(&configuration)
        self.configuration = configuration
        store = try SQLiteStore(configuration)
        collectors = (0..<loopCount + hostCount).map { Collector(hasHost: $0 >= loopCount) }
        if isStepwise {
            writer = store.startStepwise(receivers: collectors)
            writer?.begin()
        } else {
            start()
        }
    }

    deinit {
        store.stop()
        guard let writer else { return }
        while writer.turn(until: .past) {}
        writer.close()
    }

    /// Runs a turn of the writer; does nothing if the store has its own thread.
    func turn() { _ = writer?.turn(until: .past) }

    private func start() {
        let fatal = fatal
        store.start(receivers: collectors) { if let error = $0 as? StoreError { fatal.add(error) } }
    }

    /// Closes the store and opens its file again.
    func reopen() throws {
        store.stop()
        store = try SQLiteStore(configuration)
        collectors = collectors.map { Collector(hasHost: $0.hasHost) }
        start()
    }

    func address() -> ReplyAddress { address(loop: 0) }

    /// Returns an address of a loop that was not used before.
    func address(loop: UInt32) -> ReplyAddress {
        defer { nextExchange += 1 }
        return ReplyAddress(loop: loop, slot: 1, generation: 1, exchange: nextExchange)
    }

    /// Submits commands and waits for all their replies; returns the replies without directories.
    func run(_ commands: [StoreCommand]) throws -> [StoreReply] {
        // The second barrier comes after the store has read for streams after the first batch.
        let barriers = [address(), address()]
        store.submit(commands + [.perform(.allDevices(.counts), answer: barriers[0])])
        var replies = try take("answers", until: barriers[0])
        store.submit([.perform(.allDevices(.counts), answer: barriers[1])])
        replies += try take("deliveries", until: barriers[1])
        return replies.filter { reply in
            if case .directory = reply { return false }
            return !barriers.contains { reply.answers($0) }
        }
    }

    private func take(_ what: String, until barrier: ReplyAddress) throws -> [StoreReply] {
        for _ in 0..<100 where !collectors[0].has({ $0.answers(barrier) }) { turn() }
        return try collectors[0].take(what) { $0.contains { $0.answers(barrier) } }
    }

    func begin(_ commands: [StoreCommand], deliveryCount: Int) throws -> [StoreReply] {
        store.submit(commands)
        return try collectors[0].take("\(deliveryCount) deliveries") { $0.deliveredCount >= deliveryCount }
    }

    /// Closes the store and checks its file with SQLite; returns the problems.
    func close(pendingCount: Int) throws -> [String] {
        store.stop()
        let connection = try Connection(path: path, durability: .full, exclusive: true)
        let check = try connection.prepare("PRAGMA integrity_check")
        var lines: [String] = []
        while try check.step() { lines.append(check.string(0)) }
        let count = try connection.prepare(
            "SELECT (SELECT count(*) FROM pending) + (SELECT count(*) FROM broadcasts)")
        _ = try count.step()
        if count.int64(0) != pendingCount { lines.append("\(count.int64(0)) rows, expected \(pendingCount)") }
        return lines.filter { $0 != "ok" }
    }

    /// Returns the store's counters.
    func counts() throws -> AdminAPI.Counts {
        guard case .counts(let counts) = try succeed(.allDevices(.counts)) else { throw MissingReply(what: "counts") }
        return counts
    }
}

/// The error for a missing or unexpected reply of the store.
struct MissingReply: Error {
    var what: String
}

extension StoreReply {
    /// Returns whether the reply goes to an address.
    func answers(_ address: ReplyAddress) -> Bool {
        switch self {
        case .accepted(address), .refused(_, _, address), .attached(_, address), .deliver(_, address),
            .ended(_, address), .performed(_, address):
            true
        default: false
        }
    }
}
