// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// The store's writer thread: drains the queue, applies commands in memory, commits durable changes, and sends replies.
///
/// ```
/// queue ─take▶ dispatcher: notifications, acknowledgements, streams ▶ deliveries
///                  │ due writes           requests, broadcasts: a slice of 2 ms, the rest waits │
///                  └────────▶ BEGIN IMMEDIATE ▶ rows ▶ execute each ▶ COMMIT ▶ answers
///                                  │                              │
///                                  ├─ full ──▶ ROLLBACK ▶ release the reserve ▶ removals ▶ otherwise only reads
///                                  ├─ one command fails ──▶ ROLLBACK ▶ each command alone
///                                  └─ disk failed ──▶ refuse every command; the server exits and restarts
/// ```
/// Between transactions it reads for streams that need a refill, runs checkpoints, archives and sweeps.
final class Writer {
    let configuration: StoreConfiguration
    private let queue: CommandQueue
    let connection: Connection
    let executor: Executor
    let dispatcher: Dispatcher
    private let onFatal: @Sendable (StoreError) -> Void
    private(set) var failure: StoreError?
    /// The requests and broadcasts that wait for their slice.
    private var waiting = FairQueue()
    /// Whether this turn's slice has started.
    private var hasUsedSlice = false
    private var directoryVersion: UInt64 = 0
    var nextSweep: MonotonicTime
    var reserve: DiskReserve
    var nextRestore = MonotonicTime.now
    /// The damaged rows that the next sweep deletes.
    var damage = Damage()
    var nextNote = MonotonicTime.now.advanced(byMilliseconds: WriterLimits.seenIntervalMilliseconds)
    var settling: Compaction?
    var nextSynchronization = MonotonicTime.past
    private var isClosing = false
    /// The time at which the trace's buffer is written; nil while it is empty.
    var nextTraceFlush: MonotonicTime?

    init(
        _ opened: OpenedStore, queue: CommandQueue, receivers: [any StoreReplyReceiver],
        onFatal: @escaping @Sendable (StoreError) -> Void
    ) {
        configuration = opened.configuration
        connection = opened.connection
        executor = opened.executor
        dispatcher = Dispatcher(
            opened.executor,
            DeliveryState(
                counters: opened.counters, gatheringMilliseconds: configuration.gatheringMilliseconds,
                trace: opened.executor.trace, histories: opened.executor.histories, receivers: receivers),
            configuration)
        nextSweep = .now.advanced(byMilliseconds: configuration.sweepIntervalMilliseconds)
        reserve = opened.reserve
        self.queue = queue
        self.onFatal = onFatal
    }

    /// Runs until the queue is closed and empty, then closes the database.
    func run() {
        publishDirectory()
        if !reserve.isHeld { configuration.onNotice(.diskFull(.noReserve(path: configuration.path))) }
        noteRunning([])
        var taken = CommandQueue.Taken()
        while true {
            queue.take(until: nextWork, into: &taken)
            beginTurn()
            for answer in taken.shed { dispatcher.deliveryState.shed(answer) }
            for answer in taken.shedRequests { dispatcher.deliveryState.refuse(.busy, answer) }
            process(taken.commands)
            serveWaiting(all: taken.isLast)
            handOut()
            commitDue()
            feedStreams()
            searchTrace()
            handOut()
            flushTraceIfDue()
            writeHistoriesIfDue()
            checkpointIfLong()
            synchronizeIfDue()
            if taken.isLast { break }
            executor.backups.step()
            settleIfMany()
            sweepIfDue()
        }
        close()
    }

    /// The time until which the writer may sleep.
    private var nextWork: MonotonicTime {
        guard failure == nil else { return nextSweep }
        let isBusy =
            settling != nil || dispatcher.deliveryState.isSearching || executor.backups.isRunning || !waiting.isEmpty
        if isBusy || dispatcher.deliveryState.streams.anyNeedsRefill { return .past }
        var next = min(nextSweep, nextTraceFlush ?? nextSweep)
        if let due = dispatcher.nextDue { next = min(next, due) }
        if let due = executor.histories.nextWrite { next = min(next, due) }
        if let end = dispatcher.deliveryState.streams.nextGatheringEnd { next = min(next, end) }
        if isSynchronizedLater, connection.logPageCount > 0 { next = min(next, nextSynchronization) }
        return next
    }

    private func beginTurn() {
        hasUsedSlice = false
        dispatcher.now = configuration.unixMilliseconds()
        dispatcher.deliveryState.now = dispatcher.now
        dispatcher.moment = .now
        dispatcher.deliveryState.moment = dispatcher.moment
        dispatcher.hasSpace = failure == nil && hasSpace()
        dispatcher.deliveryState.endGathering(by: dispatcher.moment)
    }

    private func handOut() { dispatcher.deliveryState.handOut(now: dispatcher.now) }

    // MARK: Commands

    /// Executes commands in their order.
    ///
    /// Consecutive requests and broadcasts share a transaction. After the turn's slice is over, requests and broadcasts
    /// wait, while the dispatcher executes the commands after them.
    ///
    /// - Parameter commands: The commands.
    private func process(_ commands: [StoreCommand]) {
        var next = 0
        while next < commands.count {
            if let failure {
                for command in commands[next...] { dispatcher.deliveryState.refuse(command, failure.description) }
                return
            }
            if isForDispatcher(commands[next]) {
                dispatch(commands[next])
                next += 1
            } else if !waiting.isEmpty || hasUsedSlice && executor.slice.isOver {
                wait(for: commands[next])
                next += 1
            } else {
                beginSlice()
                commitRequests {
                    guard next < commands.count, !self.isForDispatcher(commands[next]) else { return nil }
                    defer { next += 1 }
                    return StoreTask(commands[next])
                }
            }
        }
        handOut()
    }

    /// Queues a request or broadcast, or refuses it when too many wait already.
    private func wait(for command: StoreCommand) {
        guard !waiting.append(StoreTask(command)) else { return }
        switch command {
        case .publish(_, let answer): dispatcher.deliveryState.shed(answer)
        case .perform(_, let answer): dispatcher.deliveryState.refuse(.busy, answer)
        case .accept, .attach, .detach, .acknowledge: break
        }
    }

    /// Executes waiting requests for one slice, unless this turn has had its slice; executes all of them when the store
    /// closes.
    private func serveWaiting(all isLast: Bool) {
        guard !hasUsedSlice || isLast else { return }
        while failure == nil, !waiting.isEmpty {
            hasUsedSlice = false
            beginSlice()
            commitRequests {
                let task = self.waiting.next()
                self.executor.slice.isShared = self.waiting.hasTurn
                return task
            }
            guard isLast else { return }
        }
    }

    /// Starts the turn's slice, unless it was started.
    private func beginSlice() {
        executor.slice.isShared = false
        guard !hasUsedSlice else { return }
        hasUsedSlice = true
        executor.slice.begin()
    }

    private func isForDispatcher(_ command: StoreCommand) -> Bool {
        switch command {
        case .accept, .acknowledge, .attach, .detach, .perform(.acknowledge, _), .perform(.identify, _): true
        case .publish, .perform: false
        }
    }

    private func dispatch(_ command: StoreCommand) {
        do {
            try dispatcher.take(command)
        } catch {
            // The dispatcher only reads here, so the file is at fault.
            let error = StoreError(error, path: configuration.path)
            dispatcher.deliveryState.refuse(command, error.description)
            fail(error)
        }
    }

    /// Commits the writes that are due.
    private func commitDue() {
        dispatcher.moment = .now
        guard failure == nil, dispatcher.isDue(by: dispatcher.moment) || executor.sequences.isShort else { return }
        commit(Due(moment: dispatcher.moment))
    }

    /// Commits the notifications that are due and all deletions.
    func commit(_ due: Due) {
        guard reserve.isHeld else { return commitOnFullDisk([], due) }
        do {
            try transaction { () throws(SQLiteError) in
                try write(due)
            } committed: {
                confirm(due)
            }
        } catch {
            recover([], due, from: error)
        }
    }

    /// Commits all pending writes, and requests until the slice is over.
    private func commitRequests(_ next: () -> StoreTask?) {
        var taken: [StoreTask] = []
        defer { for task in taken { waiting.release(task) } }
        guard reserve.isHeld else {
            while taken.count < WriterLimits.requestsOnFullDiskCountMax, let task = next() { taken.append(task) }
            return commitOnFullDisk(taken[...], .all)
        }
        do {
            try transaction { () throws(SQLiteError) in
                try write(.all)
                while taken.count < WriterLimits.commandsPerTransactionCountMax, let task = next() {
                    taken.append(task)
                    try executor.execute(task, upTo: .growing)
                    if executor.unfinished.last?.task !== task { waiting.release(task) }
                    if executor.slice.isOver { break }
                }
            } committed: {
                confirm(.all)
            }
        } catch {
            recover(taken[...], .all, from: error)
        }
    }

    private func write(_ due: Due) throws(SQLiteError) {
        try dispatcher.writeNotifications(due)
        try dispatcher.writeDeletions(countMax: .max)
        try dispatcher.writeSeen()
    }

    private func confirm(_ due: Due) {
        dispatcher.confirmNotifications(due)
        dispatcher.confirmDeletions(countMax: .max)
        dispatcher.confirmSeen()
    }

    private func recover(_ batch: ArraySlice<StoreTask>, _ due: Due, from error: TransactionError) {
        // Restored entries are not part of the current archiving run; the next run finds them.
        settling = nil
        switch error {
        case .fatal(let error): refuseAll(batch, error)
        case .full(let error):
            giveUpReserve(error)
            commitOnFullDisk(batch, due)
        case .refused(let error):
            // One failing command must not fail the others. It is rare, so a commit for each is acceptable.
            for sequence in dispatcher.unwritten.sequences(due) {
                commitAlone(Due(moment: due.moment, sequence: sequence))
            }
            for index in batch.indices { commitAlone(batch[index...index]) }
            if failure == nil, dispatcher.hasDeletions { dispatcher.refuseDeletions(error.description) }
        }
    }

    private func commitAlone(_ due: Due) {
        let dispatcher = dispatcher
        if attempt({ () throws(SQLiteError) in try dispatcher.writeNotifications(due) }) {
            dispatcher.confirmNotifications(due)
        } else {
            dispatcher.refuseNotifications(due)
        }
    }

    private func commitAlone(_ batch: ArraySlice<StoreTask>) {
        if let failure { return refuse(batch, failure) }
        do {
            try transaction { () throws(SQLiteError) in
                for task in batch { try executor.execute(task, upTo: .growing) }
            }
        } catch {
            switch error {
            case .refused(let error): refuse(batch, error)
            case .full(let error):
                giveUpReserve(error)
                commitOnFullDisk(batch, Due(moment: .past))
            case .fatal(let error): refuseAll(batch, error)
            }
        }
    }

    func refuse(_ batch: some Sequence<StoreTask>, _ error: StoreError) {
        for task in batch { dispatcher.deliveryState.refuse(task.command, error.description) }
    }

    /// Refuses every waiting command and write after the disk failed.
    func refuseAll(_ batch: ArraySlice<StoreTask>, _ error: StoreError) {
        refuse(batch, error)
        refuse(waiting.removeAll(), error)
        dispatcher.refuseNotifications(.all)
        dispatcher.refuseDeletions(error.description)
        handOut()
        fail(error)
    }

    // MARK: Transactions

    /// Runs a transaction and applies it to memory: first the dispatcher's writes, then the events.
    ///
    /// - Parameters:
    ///   - body: Writes the rows.
    ///   - confirm: Applies the dispatcher's writes to memory after the commit.
    /// - Throws: The classified failure. The transaction was then rolled back.
    func transaction(
        _ body: () throws(SQLiteError) -> Void, committed confirm: () -> Void = {}
    ) throws(TransactionError) {
        executor.begin(now: configuration.unixMilliseconds())
        var isCommitting = false
        do {
            try connection.transaction { () throws(SQLiteError) in
                try body()
                try executor.end(isClosing: isClosing, hasSpace: reserve.isHeld)
                isCommitting = true
            }
        } catch {
            executor.sequences.end(isCommitted: false)
            executor.trace.rolledBack()
            executor.restartLongWork()
            throw TransactionError(error, path: configuration.path, isCommitting: isCommitting)
        }
        executor.sequences.end(isCommitted: true)
        executor.trace.committed()
        confirm()
        if executor.transaction.hasDirectoryChanged { publishDirectory() }
        dispatcher.apply(executor.transaction.events)
        for (task, work) in executor.unfinished {
            task.progress = work
            waiting.putBack(task)
        }
    }

    /// Runs a transaction without an answer; returns false when it failed.
    func attempt(_ body: () throws(SQLiteError) -> Void) -> Bool {
        do {
            try transaction(body)
            return true
        } catch {
            switch error {
            case .full(let error): giveUpReserve(error)
            case .fatal(let error): fail(error)
            case .refused: break  // It is retried later.
            }
            return false
        }
    }

    private func publishDirectory() {
        directoryVersion += 1
        do {
            dispatcher.deliveryState.publish(try executor.apps.directory(version: directoryVersion))
        } catch {
            fail(StoreError(error, path: configuration.path))
        }
    }

    /// Stops all work.
    ///
    /// After a failed write, the state of the disk is unknown until a new process reads it.
    ///
    /// - Parameter error: The failure.
    func fail(_ error: StoreError) {
        guard failure == nil else { return }
        failure = error
        executor.backups.end(error)
        connection.leaveLogOnClose()
        onFatal(error)
        refuseAll([], error)
    }

    /// Writes the last-seen times and everything buffered, and removes the write-ahead log.
    private func close() {
        isClosing = true
        executor.backups.end(.failed(path: configuration.path, code: 4, text: "the server stopped"))
        if failure == nil { commit(.all) }
        dispatcher.deliveryState.noteSeen(dispatcher.deliveryState.streams.openDevices)
        noteRunning(dispatcher.deliveryState.takeDeparted(countMax: .max))
        flushTrace()
        writeAllHistories()
        if failure == nil { checkpoint(.truncate) }
        handOut()
    }
}
