// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushSQL
internal import PushSQLite

/// Commits the writes of the dispatcher and the requests, and decides what to do when a transaction fails.
///
/// ```
/// BEGIN IMMEDIATE ▶ rows ▶ execute each request ▶ COMMIT ▶ memory ▶ answers
///        │                      │
///        ├─ full ──▶ ROLLBACK ▶ release the reserve ▶ removals ▶ otherwise only reads
///        ├─ one command fails ──▶ ROLLBACK ▶ each command alone
///        └─ disk failed ──▶ refuse every command; the server exits and restarts
/// ```
final class Committer {
    let configuration: StoreConfiguration
    let connection: Connection
    let executor: Executor
    let dispatcher: Dispatcher
    /// The requests and broadcasts that wait for their slice.
    let waiting: FairQueue<StoreTask>
    /// The space for deletions on a full disk.
    private(set) var space: DiskSpace
    private let onFatal: @Sendable (StoreError) -> Void
    /// The failure after which nothing is written any more.
    private(set) var failure: StoreError?
    /// The number of times that the commands of a failed transaction were tried again.
    private(set) var recoveryCount = 0
    /// Whether the next transaction is the last one.
    var isClosing = false
    /// Whether the current transaction writes the deletions.
    private var writesDeletions = false
    private var directoryVersion: UInt64 = 0
    private var nextSynchronization = MonotonicTime.past
    /// The time from which a log of `WriterLimits.checkpointPageCount` pages is checkpointed.
    private var nextCheckpoint = MonotonicTime.past
    /// The durations of transactions.
    private let durations: DurationHistogram

    init(
        _ opened: OpenedStore, _ dispatcher: Dispatcher, _ waiting: FairQueue<StoreTask>,
        onFatal: @escaping @Sendable (StoreError) -> Void
    ) {
        configuration = opened.configuration
        connection = opened.connection
        executor = opened.executor
        space = DiskSpace(opened.reserve, opened.configuration)
        durations = opened.metrics.commit
        self.dispatcher = dispatcher
        self.waiting = waiting
        self.onFatal = onFatal
    }

    /// Whether writes are possible that need space.
    var canWrite: Bool { failure == nil && space.isHeld }

    // MARK: Committing

    /// Commits the writes that are due.
    func commitDue() {
        dispatcher.moment = configuration.turnTime()
        guard failure == nil, dispatcher.isDue(by: dispatcher.moment) || executor.sequences.isShort else { return }
        commit(Due(moment: dispatcher.moment))
    }

    /// Commits the notifications and deletions that are due.
    func commit(_ due: Due) {
        guard space.isHeld else { return commitOnFullDisk([], due) }
        do {
            try transaction { () throws(SQLError) in
                try write(due)
            } committed: {
                confirm(due)
            }
        } catch {
            recover([], due, from: error)
        }
    }

    /// Commits all pending writes, and requests until the slice is over.
    func commitRequests(_ next: () -> StoreTask?) {
        var taken: [StoreTask] = []
        defer { for task in taken { waiting.release(task) } }
        guard space.isHeld else {
            while taken.count < WriterLimits.requestsOnFullDiskCountMax, let task = next() { taken.append(task) }
            return commitOnFullDisk(taken[...], .all)
        }
        do {
            try transaction { () throws(SQLError) in
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

    private func write(_ due: Due) throws(SQLError) {
        try dispatcher.writeNotifications(due)
        writesDeletions = dispatcher.deletes(due)
        if writesDeletions { try dispatcher.writeDeletions(countMax: .max) }
        try dispatcher.writeSeen()
    }

    private func confirm(_ due: Due) {
        dispatcher.confirmNotifications(due)
        if writesDeletions { dispatcher.confirmDeletions(countMax: .max) }
        dispatcher.confirmSeen()
    }

    // MARK: Retry

    private func recover(_ batch: ArraySlice<StoreTask>, _ due: Due, from error: TransactionError) {
        recoveryCount += 1
        switch error {
        case .fatal(let error): refuseAll(batch, error)
        case .full(let error):
            giveUpReserve(error)
            commitOnFullDisk(batch, due)
        case .refused(let error):
            // One failing command must not fail the others. It is rare, so a commit for each is acceptable.
            for sequence in dispatcher.pendingWrites.sequences(due) {
                commitAlone(Due(moment: due.moment, sequence: sequence))
            }
            for index in batch.indices { commitAlone(batch[index...index]) }
            if failure == nil, dispatcher.hasDeletions { dispatcher.refuseDeletions(error.description) }
        }
    }

    private func commitAlone(_ due: Due) {
        let dispatcher = dispatcher
        if attempt({ () throws(SQLError) in try dispatcher.writeNotifications(due) }) {
            dispatcher.confirmNotifications(due)
        } else {
            dispatcher.refuseNotifications(due)
        }
    }

    private func commitAlone(_ batch: ArraySlice<StoreTask>) {
        if let failure { return refuse(batch, failure) }
        do {
            try transaction { () throws(SQLError) in
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
        dispatcher.sendReplies()
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
        _ body: () throws(SQLError) -> Void, committed confirm: () -> Void = {}
    ) throws(TransactionError) {
        executor.begin(now: configuration.now())
        let begin = MonotonicTime.now
        var isCommitting = false
        do {
            try connection.transaction { () throws(SQLError) in
                try body()
                try executor.end(isClosing: isClosing, hasSpace: space.isHeld)
                isCommitting = true
            }
        } catch {
            executor.rolledBack()
            throw TransactionError(error, path: configuration.path, isCommitting: isCommitting)
        }
        durations.observe(nanoseconds: MonotonicTime.now.nanoseconds(since: begin))
        executor.committed()
        confirm()
        if executor.transaction.hasDirectoryChanged { publishDirectory() }
        dispatcher.apply(executor.transaction.events)
        for (task, work) in executor.unfinished {
            task.progress = work
            waiting.putBack(task)
        }
    }

    /// Runs a transaction without an answer; returns false when it failed.
    func attempt(_ body: () throws(SQLError) -> Void) -> Bool {
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

    /// Sends the apps, keys and certificates to all loops.
    func publishDirectory() {
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

    // MARK: The write-ahead log

    /// Checkpoints the log when it is as long as the reserve, or when it has `WriterLimits.checkpointPageCount` pages
    /// and the last checkpoint is at least `writeDelayMilliseconds` ago.
    func checkpointIfLong() {
        let (pageCount, now) = (connection.logPageCount, dispatcher.moment)
        let isDue = pageCount >= WriterLimits.checkpointPageCount && now >= nextCheckpoint
        guard isDue || pageCount >= space.logPageCountHigh else { return }
        nextCheckpoint = now.advanced(byMilliseconds: configuration.writeDelayMilliseconds)
        checkpoint(.passive)
    }

    /// The time at which the commits since the last one are synchronized; nil if all are.
    var synchronizationDue: MonotonicTime? {
        configuration.durability != .full && connection.logPageCount > 0 ? nextSynchronization : nil
    }

    /// Synchronizes the commits of the last second, with a durability at which commits do not synchronize.
    func synchronizeIfDue() {
        guard failure == nil, let due = synchronizationDue else { return }
        let now = MonotonicTime.now
        guard now >= due else { return }
        nextSynchronization = now.advanced(byMilliseconds: WriterLimits.synchronizationMilliseconds)
        // A checkpoint synchronizes the log and then the database.
        checkpoint(.passive)
    }

    func checkpoint(_ kind: Connection.Checkpoint) {
        do {
            try connection.checkpoint(kind)
        } catch {
            // On a full disk the log stays, which is safe, and the next commit tries again.
            let failed = TransactionError(error, path: configuration.path, isCommitting: true)
            if case .fatal(let error) = failed { fail(error) }
        }
    }

    // MARK: Space

    /// Returns whether notifications may be stored; after a full disk, only once the reserve is allocated again.
    func hasSpace() -> Bool { failure == nil && space.isAvailable(connection) }

    /// Releases the reserve after the disk was found to be full.
    func giveUpReserve(_ error: StoreError) {
        space.giveUp(error)
        // Truncate the log, because its space is more useful to the file system.
        checkpoint(.truncate)
    }
}
