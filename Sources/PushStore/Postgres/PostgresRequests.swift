// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushCore
package import PushSQL

/// Performs requests in serializable transactions of PostgreSQL, on the one thread that uses the connection.
///
/// Each step of a long request is a transaction. One that a concurrent transaction prevents is tried again.
package final class PostgresRequests {
    /// The environment of the requests.
    package struct Environment {
        /// The number of this node.
        package var node: Int64
        /// Whether the nodes record a trace.
        package var hasTrace = false
        package var channelPerAppCountMax = Limits.channelPerAppCountMax
        /// The time without a stream after which a device counts as away, in milliseconds.
        package var awayMilliseconds = Limits.awayAfter.components.seconds * 1000
        /// The number of notifications sent to one device for which outcomes are recorded.
        package var historyEntryCountMax = Limits.deliveryHistoryCountMax
        /// Returns the current time of PostgreSQL.
        package var now: () -> Timestamp
        /// Returns a number that is below all that nodes make from now on, and not below that of an answered broadcast.
        package var lastAnswered: () -> Int64
        /// Runs statements in a serializable transaction, and rolls back when they fail.
        package var transaction: PostgresSchema.Transaction
        /// Returns the requests of the shard that has a device; nil if there is one shard.
        package var shard: (DeviceID) throws(SQLError) -> PostgresRequests? = { _ in nil }
        /// Waits for a random number of milliseconds in a range.
        package var pause: (ClosedRange<Int>) -> Void

        package init(
            node: Int64, now: @escaping () -> Timestamp, lastAnswered: @escaping () -> Int64,
            transaction: @escaping PostgresSchema.Transaction, pause: @escaping (ClosedRange<Int>) -> Void
        ) {
            self.node = node
            self.now = now
            self.lastAnswered = lastAnswered
            self.transaction = transaction
            self.pause = pause
        }
    }

    /// The answer to a request.
    package struct Answer: Sendable {
        package var result: Result<StoreAnswer, StoreRefusal>
        /// Whether nothing may be delivered after the answer that the request forbids.
        ///
        /// The answer must then wait until the hosts of the changed devices have applied the effects.
        package var endsDeliveries = false

        package init(result: Result<StoreAnswer, StoreRefusal>, endsDeliveries: Bool = false) {
            self.result = result
            self.endsDeliveries = endsDeliveries
        }
    }

    /// The result of publishing a broadcast.
    package enum PublishResult: Sendable {
        case refused(RejectionReason)
        /// The broadcast must be delivered to the connected subscribers.
        case published(PublishedBroadcast)
        /// The broadcast is accepted but has expired.
        case expired(PendingNotification)
    }

    /// The trace of all nodes.
    package let traces: PostgresTraces
    private let environment: Environment
    let tables: SharedTables
    /// The removed apps and channels that still have registrations or subscriptions.
    let leftovers: PostgresLeftovers
    private let waiting: PostgresWaiting
    private let counts: PostgresCounts
    private let numbers: PostgresNumbers
    let executor: RequestExecutor
    private let sweeper: PostgresSweeper
    private let trimmer: PostgresTrimmer
    private let histories: PostgresHistories
    let transaction = StoreTransaction()
    private let selectMoved: any SQLStatement
    private let raiseVersion: any SQLStatement
    private let selectVersion: any SQLStatement

    /// Prepares the statements.
    ///
    /// - Parameters:
    ///   - control: The connection to the control data, with the tables of `PostgresSchema`.
    ///   - shard: The connection to the tables of devices; nil if they are in the same database.
    ///   - bounds: The bounds of the store.
    ///   - environment: The environment.
    /// - Throws: The error that PostgreSQL returned.
    package init(
        _ control: any SQLDatabase, shard: (any SQLDatabase)? = nil, _ bounds: StoreBounds,
        _ environment: Environment
    ) throws(SQLError) {
        let database = shard ?? control
        self.environment = environment
        tables = try SharedTables(control, devices: shard, node: environment.node)
        waiting = try PostgresWaiting(database, control: control)
        counts = try PostgresCounts(database, node: environment.node, hasControl: shard == nil)
        numbers = PostgresNumbers(lastAnswered: environment.lastAnswered)
        executor = RequestExecutor(
            tables, transaction, waiting, numbers,
            try PostgresTracePositions(control, isOn: environment.hasTrace), bounds,
            channelPerAppCountMax: environment.channelPerAppCountMax)
        traces = try PostgresTraces(control, tables, bounds, environment)
        histories = PostgresHistories(tables, transaction, waiting, environment.historyEntryCountMax)
        leftovers = try PostgresLeftovers(database, control: control, tables, transaction, executor.registrations)
        sweeper = try PostgresSweeper(
            database, tables, transaction, executor.registrations, traces, leftovers, bounds,
            hasControl: shard == nil)
        trimmer = try PostgresTrimmer(
            database, tables.topics, transaction, bounds, awayMilliseconds: environment.awayMilliseconds)
        selectMoved = try database.prepare("SELECT 1 FROM moved_slots WHERE slot = ?")
        raiseVersion = try control.prepare("UPDATE control SET version = version + 1")
        selectVersion = try control.prepare("SELECT version FROM control")
    }

    // MARK: Requests

    /// Performs a request; blocks until it is complete.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - device: The device that the request is about; nil if the device cannot be in another shard.
    ///   - committed: Called after each committed transaction that has effects. A later transaction may fail.
    /// - Returns: The answer; `busy` if concurrent transactions prevented a commit too often, or the device has moved.
    /// - Throws: Another error that PostgreSQL returned. With `disconnected`, the last transaction may be committed.
    package func perform(
        _ request: StoreRequest, about device: DeviceID? = nil, committed: (PostgresEffects) -> Void
    ) throws(SQLError) -> Answer {
        try begin(request, about: device, committed: committed).finished(committed: committed)
    }

    /// Runs the first step of a request, or the next step of its work.
    func step(
        _ work: (any LongWork)?, about device: DeviceID? = nil, _ committed: (PostgresEffects) -> Void,
        _ first: () throws(SQLError) -> RequestResult
    ) throws(SQLError) -> Step {
        let result: RequestResult
        do {
            result = try commit(committed, restart: { work?.restart() }) { () throws(SQLError) in
                if let device, try hasMoved(device) { return .failure(.busy) }
                return if let work { try work.step() } else { try first() }
            }
        } catch {
            guard error.kind == .conflict else { throw error }
            return .answered(Answer(result: .failure(.busy)))
        }
        switch result {
        case .success(let answer): return .answered(Answer(result: .success(answer)))
        case .successAfterDeliveries(let answer):
            return .answered(Answer(result: .success(answer), endsDeliveries: true))
        case .failure(let refusal): return .answered(Answer(result: .failure(refusal)))
        case .memoryQuery(.trace(let search)):
            let search = PostgresTraces.Search(search)
            while try traces.step(search) {}
            return .answered(Answer(result: .success(.trace(search.findings))))
        case .memoryQuery(let query): return .answered(Answer(result: try counts.answer(query)))
        case .unfinished(let rest): return .unfinished(rest)
        }
    }

    /// Returns whether a device has moved to another shard; the caller may know only the earlier assignment.
    private func hasMoved(_ device: DeviceID) throws(SQLError) -> Bool {
        selectMoved.bind(Int64(SlotMap.slot(of: device)), at: 1)
        defer { selectMoved.reset() }
        return try selectMoved.step()
    }

    /// Accepts a broadcast; blocks until it is stored, if its channel stores it.
    ///
    /// - Parameters:
    ///   - broadcast: The broadcast.
    ///   - number: Its number, which the node has made.
    ///   - committed: Called after the transaction if it has effects.
    /// - Returns: The result; `serviceUnavailable` if concurrent transactions prevented this one too often.
    /// - Throws: Another error that PostgreSQL returned.
    package func publish(
        _ broadcast: Broadcast, number: Int64, committed: (PostgresEffects) -> Void
    ) throws(SQLError) -> PublishResult {
        numbers.assigned = number
        defer { numbers.assigned = nil }
        // The executor returns the address with the answer, which is taken from the events below.
        let address = ReplyAddress(loop: 0, slot: 0, generation: 0, exchange: 0)
        do {
            try commit(committed) { () throws(SQLError) in try executor.publish(broadcast, address) }
        } catch {
            guard error.kind == .conflict else { throw error }
            return .refused(.serviceUnavailable)
        }
        for event in transaction.events {
            switch event {
            case .reply(.refused(let reason, _, _)): return .refused(reason)
            case .broadcast(.stored(let pending, let channel, _)):
                return .published(PublishedBroadcast(pending, of: channel, isStored: true))
            case .broadcast(.nowOrNever(let pending, let channel, _)):
                return .published(PublishedBroadcast(pending, of: channel, isStored: false))
            case .delivery(.acceptedNotStored(let pending, _, _)): return .expired(pending)
            default: break
            }
        }
        preconditionFailure("A broadcast is refused, stored, delivered or expired")
    }

    /// Returns the next stored broadcasts from a number on, in order of their numbers.
    ///
    /// - Parameters:
    ///   - number: The least number.
    ///   - countMax: The maximum number of broadcasts.
    /// - Returns: The broadcasts, without damaged ones, and the number to continue from; nil after the last broadcast.
    /// - Throws: The error that PostgreSQL returned.
    package func storedBroadcasts(
        from number: Int64, countMax: Int
    ) throws(SQLError) -> (broadcasts: [PublishedBroadcast], next: Int64?) {
        try commit { () throws(SQLError) in try tables.broadcasts.stored(from: number, countMax: countMax) }
    }

    /// Returns the apps, keys, certificates and tokens, with the version of the control data.
    package func directory() throws(SQLError) -> Directory {
        try commit { () throws(SQLError) in
            defer { selectVersion.reset() }
            let version = try selectVersion.step() ? selectVersion.int64(0) : 0
            return try executor.apps.directory(version: UInt64(version))
        }
    }

    /// Returns the quota limits that administrators set.
    package func quotaLimits() throws(SQLError) -> [QuotaSubject: QuotaLimits] {
        try commit { () throws(SQLError) in try tables.quotas.limits() }
    }

    /// Executes a request, or its first step.
    func execute(_ request: StoreRequest) throws(SQLError) -> RequestResult {
        switch request {
        case .device(.identify, let credential):
            try executor.authentication.identify(credential).map { .success(.identified($0)) }
                ?? .failure(.unauthorized)
        case .device(.acknowledge(let acknowledgements), let credential): try acknowledge(credential, acknowledgements)
        case .allDevices(.trace(let query)): try search(query)
        case .backup:
            .failure(.unavailable("PostgreSQL has the data: back up its database and the file cluster.key"))
        case .enrol, .device, .administer, .allDevices, .control, .cluster: try executor.execute(request)
        }
    }

    private func acknowledge(
        _ credential: DeviceCredential, _ acknowledgements: [DeviceAPI.Acknowledgement]
    ) throws(SQLError) -> RequestResult {
        guard let device = try executor.authentication.identify(credential) else { return .failure(.unauthorized) }
        guard acknowledgements.count <= Limits.acknowledgementBatchCountMax else { return .failure(.tooMany) }
        try histories.acknowledge(acknowledgements, by: device)
        return .success(.done)
    }

    private func search(_ query: TraceQuery) throws(SQLError) -> RequestResult {
        // The request is answered by its result, not at an address.
        let address = ReplyAddress(loop: 0, slot: 0, generation: 0, exchange: 0)
        return switch try traces.search(query, address) {
        case .success(let search): .memoryQuery(.trace(search.search))
        case .failure(let refusal): .failure(refusal)
        }
    }

    /// Writes what nodes know of the notifications that they sent to devices, in one transaction.
    package func write(_ changed: [DeliveryHistory.Copy]) throws(SQLError) {
        try commit { () throws(SQLError) in try histories.write(changed) }
    }

    // MARK: Streams

    /// Returns the device with a credential; nil without one.
    package func identify(_ credential: DeviceCredential) throws(SQLError) -> DeviceID? {
        try commit { () throws(SQLError) in try executor.authentication.identify(credential) }
    }

    /// Records that devices were seen, and the names and versions of their agents.
    package func noteSeen(_ devices: [(device: DeviceID, agent: String?)]) throws(SQLError) {
        try commit { () throws(SQLError) in
            for (device, agent) in devices {
                try tables.devices.noteSeen(device, at: transaction.now)
                if let agent { try tables.devices.setAgent(agent, of: device) }
            }
        }
    }

    // MARK: Counts

    /// Writes the counters of this node for the others, and reads the sizes of the tables.
    ///
    /// - Parameters:
    ///   - events: The counters of this node since its start.
    ///   - instance: The instance of this node.
    /// - Returns: The sizes.
    /// - Throws: The error that PostgreSQL returned.
    package func exchangeCounts(_ events: AdminAPI.Counts, instance: Int64) throws(SQLError) -> StoreSizes {
        try counts.exchange(events, instance: instance)
    }

    /// Returns the numbers of rows and the size of the tables of this shard.
    package func sizes() throws(SQLError) -> StoreSizes { try counts.size() }

    // MARK: Sweeps

    /// Makes the next step of a sweep, if one is due or under way.
    ///
    /// - Parameter committed: Called after each committed transaction that has effects.
    /// - Returns: The number of expired broadcasts that were deleted, and whether another step follows.
    /// - Throws: The error that PostgreSQL returned; the step is repeated when this is called again.
    package func sweep(
        committed: (PostgresEffects) -> Void
    ) throws(SQLError) -> (expiredCount: Int, isMore: Bool) {
        let progress = try sweeper.step { body throws(SQLError) in try commit(committed, body) }
        if !progress.expired.isEmpty { committed(PostgresEffects(expired: progress.expired)) }
        return (progress.expiredCount, progress.isMore)
    }

    // MARK: Bounds

    /// Applies the bounds to the waiting notifications of a device.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - committed: Called with what was deleted, if anything was.
    /// - Throws: The error that PostgreSQL returned.
    package func trim(_ device: DeviceID, committed: (PostgresEffects) -> Void) throws(SQLError) {
        transaction.begin(now: environment.now())
        try trimmer.trim(device)
        var effects = PostgresEffects(of: transaction)
        // Streams keep all that they may have sent, so no stream must read its device again.
        effects.changedDevices = []
        effects.trimmedCount = effects.removals.count { $0.reason == .dropped }
        if !effects.isEmpty { committed(effects) }
    }

    // MARK: Transactions

    /// Runs a transaction, again after a conflict.
    ///
    /// - Parameters:
    ///   - committed: Called after the commit if the transaction has effects.
    ///   - restart: Called after each rollback.
    ///   - body: Executes the statements.
    /// - Returns: The result of `body`.
    /// - Throws: The error that PostgreSQL returned; a conflict after the last attempt.
    func commit<Result>(
        _ committed: (PostgresEffects) -> Void = { _ in }, restart: () -> Void = {},
        _ body: () throws(SQLError) -> Result
    ) throws(SQLError) -> Result {
        var attempt = 1
        while true {
            do {
                let result = try runOnce(body)
                var effects = PostgresEffects(of: transaction)
                effects.reports = histories.reports
                effects.ignoredAcknowledgementCount = histories.ignoredCount
                if !effects.isEmpty { committed(effects) }
                return result
            } catch {
                restart()
                guard error.kind == .conflict, attempt < PostgresLimits.attemptCountMax else { throw error }
                environment.pause(0...min(1 << attempt, PostgresLimits.pauseMillisecondsMax))
                attempt += 1
            }
        }
    }

    private func runOnce<Result>(_ body: () throws(SQLError) -> Result) throws(SQLError) -> Result {
        transaction.begin(now: environment.now())
        histories.begin()
        var result: Result?
        try environment.transaction { () throws(SQLError) in
            result = try body()
            if transaction.hasDirectoryChanged { try raiseVersion.run() }
        }
        guard let result else { preconditionFailure("The transaction did not run its statements") }
        return result
    }
}
