// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL
internal import PushSQLite

/// Executes requests and broadcasts inside the writer's transaction of SQLite.
final class Executor {
    let tables: StoreTables
    let transaction = StoreTransaction()
    let sequences: Sequences
    /// The in-memory records of devices.
    let queues: DeviceQueues
    let storedQueues: StoredQueues
    /// The delivery histories of devices.
    let histories: DeliveryHistories
    let trace: TraceRecorder
    let backups: BackupWork
    let traces: TraceExecutor
    let sweeper: Sweeper
    /// The requests that both engines execute alike.
    private let requests: RequestExecutor
    /// The time that requests have in this turn.
    var slice: RequestSlice
    /// The long work of which this transaction executed a step.
    private var advanced: [any LongWork] = []
    /// The tasks of this transaction whose work is not complete.
    private(set) var unfinished: [(task: StoreTask, work: any LongWork)] = []

    init(
        _ connection: Connection, _ configuration: StoreConfiguration, _ bounds: StoreBounds, now: Timestamp
    ) throws(SQLError) {
        tables = try StoreTables(connection)
        sequences = Sequences(stored: try tables.state.lastSequence())
        let lastRunning = try tables.state.lastRunning()
        let awayMilliseconds = configuration.awayMilliseconds
        queues = DeviceQueues(
            tables.registrations, tables.devices, tables.archive, countMax: configuration.deviceQueueCountMax,
            start: lastRunning.map { (at: now, expectsSince: $0.advanced(byMilliseconds: -awayMilliseconds)) })
        storedQueues = StoredQueues(tables, queues)
        histories = DeliveryHistories(
            tables.deliveryHistories, entryCountMax: max(configuration.deliveryHistoryCountMax, 1),
            entryCountInAllMax: max(configuration.deliveryHistoryInAllCountMax, 1))
        trace = try TraceRecorder(isOn: configuration.hasTrace, tables.trace)
        var recovery = TraceRecovery(end: trace.end.position)
        try tables.pending.forEachRecent(after: try tables.state.archivedThrough()) { [queues] row in
            queues.load(row)
            recovery.take(row)
        }
        backups = BackupWork(connection)
        slice = RequestSlice(clock: configuration.monotonicTime)
        requests = RequestExecutor(
            tables, transaction, storedQueues, sequences, trace, bounds,
            channelPerAppCountMax: configuration.channelPerAppCountMax)
        traces = TraceExecutor(tables, transaction, trace, bounds)
        sweeper = try Sweeper(
            tables, transaction, storedQueues, requests.authentication, requests.registrations, traces, bounds, now: now
        )
        do {
            try recovery.record(in: trace, tables, connection)
        } catch {
            // On a full disk, the trace of these notifications begins with their later events.
            guard error.kind == .full else { throw error }
        }
    }

    var authentication: DeviceAuthentication { requests.authentication }
    var apps: AppExecutor { requests.apps }

    // MARK: A transaction

    /// Starts a transaction with an empty list of events.
    func begin(now: Timestamp) {
        transaction.begin(now: now)
        if !unfinished.isEmpty { unfinished = [] }
        if !advanced.isEmpty { advanced = [] }
        tables.archive.begin()
        trace.begin()
    }

    /// Executes a task or its next step; refuses it when it needs more disk access than is allowed.
    func execute(_ task: StoreTask, upTo allowance: DiskAccess) throws(SQLError) {
        guard task.command.need.rawValue <= allowance.rawValue else {
            return refuse(task.command, "the disk is full")
        }
        transaction.allowance = allowance
        if let work = task.progress { return try advance(work, of: task) }
        switch task.command {
        case .publish(let broadcast, let answer): try requests.publish(broadcast, answer)
        case .perform(let request, let answer):
            let result = try execute(request, answer)
            if case .unfinished(let work) = result { try advance(work, of: task) } else { finish(task, result) }
        // `Writer.isForDispatcher` routes these commands to the dispatcher, so this case is unreachable.
        case .accept, .acknowledge, .attach, .detach, .usesDirectory, .host:
            refuse(task.command, RequestExecutor.misdirected)
        }
    }

    /// Executes a step of long work, and further steps while the slice lasts and no other request waits.
    private func advance(_ work: any LongWork, of task: StoreTask) throws(SQLError) {
        advanced.append(work)
        repeat {
            let result = try work.step()
            guard case .unfinished = result else { return finish(task, result) }
        } while !slice.isShared && !slice.isOver
        unfinished.append((task, work))
    }

    /// Adds the answer to a request to the events.
    private func finish(_ task: StoreTask, _ result: RequestResult) {
        guard case .perform(let request, let answer) = task.command else { return }
        switch result {
        case .success(let value):
            if request.forbidsDeliveries {
                transaction.add(.finalReply(value, answer: answer))
            } else {
                transaction.add(.reply(.performed(.success(value), answer: answer)))
            }
        case .successAfterDeliveries(let value): transaction.add(.finalReply(value, answer: answer))
        case .failure(let refusal): transaction.add(.reply(.performed(.failure(refusal), answer: answer)))
        case .memoryQuery(let query): transaction.add(.memoryQuery(query, answer: answer))
        case .unfinished: break
        }
    }

    private func refuse(_ command: StoreCommand, _ text: String) {
        if let (reply, _) = StoreReply.unavailable(command, text) { transaction.add(.reply(reply)) }
    }

    /// Resets what the transaction changed in memory, after it was rolled back.
    func rolledBack() {
        sequences.end(isCommitted: false)
        trace.rolledBack()
        for work in advanced { work.restart() }
        advanced = []
        unfinished = []
    }

    /// Confirms the sequence limit and the trace of a committed transaction.
    func committed() {
        sequences.end(isCommitted: true)
        trace.committed()
    }

    /// Writes the transaction's common data as its last step: counts, the sequence limit and the trace.
    ///
    /// - Parameters:
    ///   - isClosing: Whether this is the last transaction.
    ///   - hasSpace: Whether the disk has space for the trace; otherwise it waits in memory.
    /// - Throws: The error that SQLite returned.
    func end(isClosing: Bool, hasSpace: Bool) throws(SQLError) {
        try tables.archive.end()
        if let reservation = sequences.reservation(isClosing: isClosing) {
            try tables.state.setLastSequence(reservation)
        }
        trace.record(transaction.events, at: transaction.now)
        if hasSpace { try trace.flushIfDue(into: tables.trace) }
    }

    /// Executes a request, or its first step.
    private func execute(_ request: StoreRequest, _ answer: ReplyAddress) throws(SQLError) -> RequestResult {
        switch request {
        case .allDevices(.trace(let query)): try traces.search(query, answer)
        case .backup(let order): RequestResult(backups.begin(order))
        case .enrol, .device, .administer, .allDevices, .control, .cluster: try requests.execute(request)
        }
    }
}
