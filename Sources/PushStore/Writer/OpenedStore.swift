// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL
internal import PushSQLite

/// The open and migrated file, between `SQLiteStore.init` and the start of the writer.
// Safety: one thread creates the value and moves it to the writer's thread; SQLiteStore drops its copy with that.
struct OpenedStore: @unchecked Sendable {
    let configuration: StoreConfiguration
    let bounds: StoreBounds
    let connection: Connection
    let executor: Executor
    let counters: StoreCounters
    let reserve: DiskReserve
    let metrics: StoreMetrics

    /// Opens or creates the file, migrates the schema, and counts the rows.
    init(_ configuration: StoreConfiguration, _ metrics: StoreMetrics) throws(StoreError) {
        self.configuration = configuration
        self.metrics = metrics
        bounds = StoreBounds(configuration)
        do {
            connection = try Connection(
                path: configuration.path, durability: configuration.durability == .full ? .full : .normal,
                exclusive: true)
        } catch {
            throw StoreError(error, path: configuration.path)
        }
        do {
            try Schema.migrations.apply(to: connection)
        } catch {
            throw StoreError(error, path: configuration.path)
        }
        reserve = DiskReserve(beside: configuration.path)
        do {
            try connection.execute("PRAGMA cache_size = -16384")
            connection.checkpointByHand()
            let now = configuration.now()
            executor = try Executor(connection, configuration, bounds, now: now)
            try executor.tables.devices.noteAllSeen(now: now)
            counters = try executor.counters()
        } catch {
            throw StoreError(error, path: configuration.path)
        }
        // No server reaches this sequence, and it is far enough from overflow.
        guard (0...Int64.max / 2).contains(executor.sequences.last) else {
            throw .damaged(
                path: configuration.path, code: "11",
                text: "the stored last sequence \(executor.sequences.last) is out of range")
        }
    }
}

extension Executor {
    /// Counts the rows of the file.
    fileprivate func counters() throws(SQLError) -> StoreCounters {
        var pending = try tables.archive.countsByTopic()
        queues.forEachWithRecent { queue in
            for entry in queue.recent.all { pending[entry.topic, default: 0] += 1 }
        }
        return StoreCounters(
            apps: try tables.topics.all().count, devices: try tables.devices.count(),
            registrationsByTopic: try tables.registrations.liveCountByTopic(),
            pendingByTopic: pending.merging(try tables.broadcasts.countsByTopic(), uniquingKeysWith: +),
            subscriptionsByChannel: try tables.subscriptions.countsByChannel())
    }
}
