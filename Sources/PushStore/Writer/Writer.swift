// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// The writer: takes what gathered, lets it come true in memory, commits what must last, and answers.
///
/// ```
/// queue ─take▶ dispatcher: notifications, acknowledgements, streams ▶ deliveries
///                  │ what is due                    other commands │
///                  └────────▶ BEGIN IMMEDIATE ▶ rows ▶ execute each ▶ COMMIT ▶ answers
///                                  │                              │
///                                  ├─ full ──▶ ROLLBACK ▶ reserve given up ▶ what shrinks ▶ or at least what reads
///                                  ├─ one command's fault ──▶ ROLLBACK ▶ each command alone
///                                  └─ disk failed ──▶ refuse all, for ever; the server ends and starts again
/// ```
/// Between two transactions it reads for streams that wait, copies the log into the database, settles and sweeps.
final class Writer {
    let configuration: SQLiteStore.Configuration
    private let queue: CommandQueue
    let connection: Connection
    let executor: Executor
    let dispatcher: Dispatcher
    private let onFatal: @Sendable (StoreError) -> Void
    private(set) var failure: StoreError?
    private var directoryVersion: UInt64 = 0
    var nextSweep: MonotonicTime
    var reserve: DiskReserve
    var nextRestore = MonotonicTime.now
    /// What the next sweep deletes beside what expired.
    var damage = Damage()
    var nextNote = MonotonicTime.now.advanced(byMilliseconds: WriterLimits.seenIntervalMilliseconds)
    var settling: SettlingRun?
    var nextSynchronization = MonotonicTime.past
    private var isClosing = false
    /// When what the trace has in memory is written; nil while there is nothing.
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
            Ledger(
                tally: opened.tally, gatheringMilliseconds: configuration.gatheringMilliseconds,
                trace: opened.executor.trace, receivers: receivers),
            configuration.durability)
        nextSweep = .now.advanced(byMilliseconds: configuration.sweepIntervalMilliseconds)
        reserve = opened.reserve
        self.queue = queue
        self.onFatal = onFatal
    }

    /// Works until the queue is closed and empty, then closes the database.
    func run() {
        publishDirectory()
        if !reserve.isHeld { configuration.onNotice(.diskFull(.noReserve(path: configuration.path))) }
        noteRunning([])
        var taken = CommandQueue.Taken()
        while true {
            queue.take(until: nextWork, into: &taken)
            beginTurn()
            for answer in taken.shed { dispatcher.ledger.shed(answer) }
            process(taken.commands)
            commitDue()
            feedStreams()
            searchTrace()
            handOut()
            flushTraceIfDue()
            checkpointIfLong()
            synchronizeIfDue()
            if taken.isLast { break }
            executor.backups.step()
            settleIfMany()
            sweepIfDue()
        }
        close()
    }

    /// Until when the writer may sleep.
    private var nextWork: MonotonicTime {
        guard failure == nil else { return nextSweep }
        let isBusy = settling != nil || dispatcher.ledger.isSearching || executor.backups.isRunning
        if isBusy || dispatcher.ledger.streams.hasHungry { return .past }
        var next = min(nextSweep, nextTraceFlush ?? nextSweep)
        if let due = dispatcher.nextDue { next = min(next, due) }
        if let end = dispatcher.ledger.streams.nextGatheringEnd { next = min(next, end) }
        if isSynchronizedLater, connection.logPageCount > 0 { next = min(next, nextSynchronization) }
        return next
    }

    private func beginTurn() {
        dispatcher.now = configuration.unixMilliseconds()
        dispatcher.ledger.now = dispatcher.now
        dispatcher.moment = .now
        dispatcher.hasSpace = failure == nil && hasSpace()
        dispatcher.ledger.endGathering(by: dispatcher.moment)
    }

    private func handOut() { dispatcher.ledger.handOut(now: dispatcher.now) }

    // MARK: Commands

    /// Takes commands in their order: what the dispatcher does not take goes into a transaction with all that is
    /// unwritten before it.
    private func process(_ commands: [StoreCommand]) {
        var next = 0
        while next < commands.count {
            if let failure {
                for command in commands[next...] { dispatcher.ledger.refuse(command, failure.description) }
                return
            }
            if isForDispatcher(commands[next]) {
                dispatch(commands[next])
                next += 1
            } else {
                let batch = commands[next...].prefix(WriterLimits.commandsPerTransactionCountMax)
                    .prefix { !isForDispatcher($0) }
                next = batch.endIndex
                commit(batch, .all)
            }
        }
        handOut()
    }

    private func isForDispatcher(_ command: StoreCommand) -> Bool {
        switch command {
        case .accept, .acknowledge, .attach, .detach, .perform(.acknowledge, _): true
        case .publish, .perform: false
        }
    }

    private func dispatch(_ command: StoreCommand) {
        do {
            try dispatcher.take(command)
        } catch {
            // It only reads, so the file is at fault.
            let error = StoreError(error, path: configuration.path)
            dispatcher.ledger.refuse(command, error.description)
            fail(error)
        }
    }

    /// Commits what is due, if anything is.
    private func commitDue() {
        dispatcher.moment = .now
        guard failure == nil, dispatcher.isDue(by: dispatcher.moment) || executor.sequences.isShort else { return }
        commit([], Due(moment: dispatcher.moment))
    }

    /// Commits the notifications that are due, all deletions, and commands.
    func commit(_ batch: ArraySlice<StoreCommand>, _ due: Due) {
        guard reserve.isHeld else { return commitOnFullDisk(batch, due) }
        do {
            try commit(batch, due, upTo: .growing)
        } catch {
            recover(batch, due, from: error)
        }
    }

    private func commit(
        _ batch: ArraySlice<StoreCommand>, _ due: Due, upTo need: Executor.Need
    ) throws(TransactionError) {
        let dispatcher = dispatcher
        try transaction { () throws(SQLiteError) in
            try dispatcher.writeNotifications(due)
            try dispatcher.writeDeletions(countMax: .max)
            try dispatcher.writeSeen()
            for command in batch { try executor.execute(command, upTo: need) }
        } committed: {
            dispatcher.confirmNotifications(due)
            dispatcher.confirmDeletions(countMax: .max)
            dispatcher.confirmSeen()
        }
    }

    private func recover(_ batch: ArraySlice<StoreCommand>, _ due: Due, from error: TransactionError) {
        // What comes back now is on no list of a run that goes on; the next run finds it.
        settling = nil
        switch error {
        case .fatal(let error): refuseAll(batch, error)
        case .full(let error):
            giveUpReserve(error)
            commitOnFullDisk(batch, due)
        case .refused(let error):
            // One command's fault must not fail its neighbours, and is rare enough to pay for a commit of each.
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

    private func commitAlone(_ command: ArraySlice<StoreCommand>) {
        if let failure { return refuse(command, failure) }
        do {
            try transaction { () throws(SQLiteError) in
                for command in command { try executor.execute(command, upTo: .growing) }
            }
        } catch {
            switch error {
            case .refused(let error): refuse(command, error)
            case .full(let error):
                giveUpReserve(error)
                commitOnFullDisk(command, Due(moment: .past))
            case .fatal(let error): refuseAll(command, error)
            }
        }
    }

    private func refuse(_ batch: ArraySlice<StoreCommand>, _ error: StoreError) {
        for command in batch { dispatcher.ledger.refuse(command, error.description) }
    }

    /// Refuses everything: the disk failed.
    func refuseAll(_ batch: ArraySlice<StoreCommand>, _ error: StoreError) {
        refuse(batch, error)
        dispatcher.refuseNotifications(.all)
        dispatcher.refuseDeletions(error.description)
        handOut()
        fail(error)
    }

    // MARK: Transactions

    /// Runs one transaction and lets what it did come true: first what the dispatcher wrote, then the events.
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
            throw TransactionError(error, path: configuration.path, isCommitting: isCommitting)
        }
        executor.sequences.end(isCommitted: true)
        executor.trace.committed()
        confirm()
        if executor.hasDirectoryChanged { publishDirectory() }
        dispatcher.apply(executor.events)
    }

    /// Runs a transaction that nobody waits for; false when it did not happen.
    func attempt(_ body: () throws(SQLiteError) -> Void) -> Bool {
        do {
            try transaction(body)
            return true
        } catch {
            switch error {
            case .full(let error): giveUpReserve(error)
            case .fatal(let error): fail(error)
            case .refused: break  // It is tried again later.
            }
            return false
        }
    }

    private func publishDirectory() {
        directoryVersion += 1
        do {
            dispatcher.ledger.publish(try executor.directory(version: directoryVersion))
        } catch {
            fail(StoreError(error, path: configuration.path))
        }
    }

    /// Ends all work: after a failed write nobody knows what is on the disk until it is read again by a new process.
    func fail(_ error: StoreError) {
        guard failure == nil else { return }
        failure = error
        executor.backups.end(error)
        connection.leaveLogOnClose()
        onFatal(error)
        refuseAll([], error)
    }

    /// Writes down that devices were connected up to now, and leaves a file without a log.
    private func close() {
        isClosing = true
        executor.backups.end(.failed(path: configuration.path, code: 4, text: "the server stopped"))
        if failure == nil { commit([], .all) }
        dispatcher.ledger.noteSeen(dispatcher.ledger.streams.openDevices)
        noteRunning(dispatcher.ledger.takeDeparted(countMax: .max))
        flushTrace()
        if failure == nil { checkpoint(.truncate) }
        handOut()
    }
}
