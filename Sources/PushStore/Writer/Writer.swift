// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// The writer: takes what gathered, commits it as one transaction, then lets it come true for the loops.
///
/// ```
/// queue ─take▶ BEGIN IMMEDIATE ▶ execute each ▶ COMMIT ▶ ledger ▶ answers, deliveries
///                     │                            │
///                     ├─ full ──▶ ROLLBACK ▶ again without what grows ▶ again without what writes
///                     ├─ one command's fault ──▶ ROLLBACK ▶ each command alone
///                     └─ disk failed ──▶ refuse all, for ever; the server ends and starts again
/// ```
/// Between two transactions it reads for streams that wait, copies the log into the database and sweeps what expired.
final class Writer {
    private let configuration: SQLiteStore.Configuration
    private let queue: CommandQueue
    private let connection: Connection
    private let executor: Executor
    private var ledger: Ledger
    private let onFatal: @Sendable (StoreError) -> Void
    private var failure: StoreError?
    private var directoryVersion: UInt64 = 0
    private var nextSweep: MonotonicTime
    /// Rows whose checksum was wrong, to be deleted.
    private var damaged: [PendingTable.Removed] = []

    init(
        _ opened: OpenedStore, queue: CommandQueue, receivers: [any StoreReplyReceiver],
        onFatal: @escaping @Sendable (StoreError) -> Void
    ) {
        configuration = opened.configuration
        connection = opened.connection
        executor = opened.executor
        ledger = Ledger(tally: opened.tally, receivers: receivers)
        nextSweep = .now.advanced(byMilliseconds: configuration.sweepIntervalMilliseconds)
        self.queue = queue
        self.onFatal = onFatal
    }

    /// Works until the queue is closed and empty, then closes the database.
    func run() {
        publishDirectory()
        while true {
            let taken = queue.take(until: ledger.streams.hasHungry ? .now : nextSweep)
            for answer in taken.shed { ledger.shed(answer) }
            var rest = taken.commands[...]
            while !rest.isEmpty {
                let batch = rest.prefix(WriterLimits.commandsPerTransactionCountMax)
                rest = rest.dropFirst(batch.count)
                process(batch)
                ledger.handOut(now: configuration.unixMilliseconds())
                feedStreams()
                checkpointIfLong()
            }
            if taken.commands.isEmpty { feedStreams() }
            ledger.handOut(now: configuration.unixMilliseconds())
            if taken.isLast { break }
            sweepIfDue()
        }
        close()
    }

    // MARK: Commands

    private func process(_ batch: ArraySlice<StoreCommand>) {
        if let failure {
            for command in batch { ledger.refuse(command, failure.description) }
            return
        }
        do {
            try commit(batch)
        } catch {
            recover(batch, from: error)
        }
    }

    private func recover(_ batch: ArraySlice<StoreCommand>, from error: TransactionError) {
        switch error {
        case .fatal(let error):
            for command in batch { ledger.refuse(command, error.description) }
            ledger.handOut(now: configuration.unixMilliseconds())
            fail(error)
        case .full: processOnFullDisk(batch)
        case .refused(let error) where batch.count == 1:
            for command in batch { ledger.refuse(command, error.description) }
        case .refused:
            // One command's fault must not fail its neighbours, and is rare enough to pay for a commit of each.
            for index in batch.indices { process(batch[index...index]) }
        }
    }

    /// Goes on with what a full disk allows: removals, or at least what only reads.
    private func processOnFullDisk(_ batch: ArraySlice<StoreCommand>) {
        // A log that was copied is written again from its start, which needs no space.
        checkpoint()
        guard failure == nil else { return process(batch) }
        do {
            try commit(batch, upTo: .shrinking)
        } catch .full {
            commitReading(batch)
        } catch {
            recover(batch, from: error)
        }
    }

    private func commitReading(_ batch: ArraySlice<StoreCommand>) {
        do {
            try commit(batch, upTo: .reading)
        } catch .full(let error) {
            // It writes nothing, so this cannot be; if it is, each command is refused for itself.
            recover(batch, from: .refused(error))
        } catch {
            recover(batch, from: error)
        }
    }

    private func commit(_ batch: ArraySlice<StoreCommand>, upTo need: Executor.Need = .growing) throws(TransactionError)
    {
        try transaction { () throws(SQLiteError) in
            for command in batch { try executor.execute(command, upTo: need) }
        }
    }

    /// Runs one transaction and lets its events come true.
    private func transaction(_ body: () throws(SQLiteError) -> Void) throws(TransactionError) {
        executor.begin(now: configuration.unixMilliseconds())
        var isCommitting = false
        do {
            try connection.transaction { () throws(SQLiteError) in
                try body()
                try executor.end()
                isCommitting = true
            }
        } catch {
            throw TransactionError(error, path: configuration.path, isCommitting: isCommitting)
        }
        executor.committed()
        if executor.hasDirectoryChanged { publishDirectory() }
        ledger.apply(executor.events)
    }

    private func publishDirectory() {
        directoryVersion += 1
        do {
            ledger.publish(try executor.directory(version: directoryVersion))
        } catch {
            fail(StoreError(error, path: configuration.path))
        }
    }

    /// Ends all work: after a failed write nobody knows what is on the disk until it is read again by a new process.
    private func fail(_ error: StoreError) {
        guard failure == nil else { return }
        failure = error
        connection.leaveLogOnClose()
        onFatal(error)
    }

    // MARK: Between transactions

    /// Reads the next notifications for streams that have room, a bounded number in all.
    private func feedStreams() {
        guard failure == nil else { return }
        var rowCount = 0
        for device in ledger.takeHungry() {
            guard rowCount < WriterLimits.rowsReadPerTurnCountMax, failure == nil else {
                ledger.postpone(device)
                continue
            }
            if let stream = ledger.streams.hungryStream(of: device) { rowCount += feed(device, stream) }
        }
    }

    private func feed(_ device: DeviceID, _ stream: DeviceStream) -> Int {
        var read: [PendingNotification] = []
        var rowCount = 0
        do {
            try executor.pending.forEachWaiting(
                of: device, after: stream.lastSent, now: configuration.unixMilliseconds(), countMax: stream.room
            ) { pending, isIntact in
                rowCount += 1
                if isIntact { read.append(pending) } else { noteDamage(pending) }
            }
        } catch {
            fail(StoreError(error, path: configuration.path))
            return rowCount
        }
        ledger.refill(device, read, isComplete: rowCount < stream.room)
        return rowCount
    }

    /// Leaves out a row that is not what was written; the next sweep deletes it.
    private func noteDamage(_ pending: PendingNotification) {
        let address = pending.notification.address
        damaged.append(
            PendingTable.Removed(sequence: pending.sequence, device: address.device, topic: address.topic))
        configuration.onDamagedRow(pending.sequence)
        nextSweep = .now
    }

    private func checkpointIfLong() {
        if connection.logPageCount >= WriterLimits.logPageCountHigh { checkpoint() }
    }

    private func checkpoint() {
        do {
            try connection.checkpoint(.passive)
        } catch {
            // A full disk keeps the log, and the next commit tries again.
            let failed = TransactionError(error, path: configuration.path, isCommitting: true)
            if case .fatal(let error) = failed { fail(error) }
        }
    }

    /// Deletes expired rows and codes, a bounded number in one step.
    private func sweepIfDue() {
        let now = MonotonicTime.now
        guard now >= nextSweep else { return }
        nextSweep = now.advanced(byMilliseconds: configuration.sweepIntervalMilliseconds)
        guard failure == nil else { return }
        do {
            var isMore = false
            try transaction { () throws(SQLiteError) in isMore = try executor.sweep(damaged) }
            damaged = []
            if isMore { nextSweep = now }
        } catch {
            // On a full disk the next sweep tries again.
            if case .fatal(let error) = error { fail(error) }
        }
    }

    private func close() {
        guard failure == nil else { return }
        do {
            try connection.checkpoint(.truncate)
        } catch {
            // What is in the log is safe there; only a broken disk is worth telling.
            let failed = TransactionError(error, path: configuration.path, isCommitting: true)
            if case .fatal(let error) = failed { fail(error) }
        }
    }
}
