// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// The writer: takes what gathered, commits it as one transaction, then lets it come true for the loops.
///
/// ```
/// queue ─take▶ BEGIN IMMEDIATE ▶ execute each ▶ COMMIT ▶ ledger ▶ answers, deliveries
///                     │                            │
///                     ├─ full ──▶ ROLLBACK ▶ reserve given up ▶ what shrinks ▶ or at least what reads
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
    private var reserve: DiskReserve
    private var nextRestore = MonotonicTime.now
    /// What the next sweep deletes beside what expired.
    private var damage = Damage()
    private var nextNote = MonotonicTime.now.advanced(byMilliseconds: WriterLimits.seenIntervalMilliseconds)

    init(
        _ opened: OpenedStore, queue: CommandQueue, receivers: [any StoreReplyReceiver],
        onFatal: @escaping @Sendable (StoreError) -> Void
    ) {
        configuration = opened.configuration
        connection = opened.connection
        executor = opened.executor
        ledger = Ledger(tally: opened.tally, receivers: receivers)
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
        while true {
            let hasWork = (ledger.streams.hasHungry || executor.backups.isRunning) && failure == nil
            let taken = queue.take(until: hasWork ? .now : nextSweep)
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
            executor.backups.step()
            sweepIfDue()
        }
        close()
    }

    // MARK: Commands

    private func process(_ batch: ArraySlice<StoreCommand>) {
        if let failure { return refuse(batch, failure) }
        guard hasSpace() else { return processOnFullDisk(batch) }
        do {
            try commit(batch)
        } catch {
            recover(batch, from: error)
        }
    }

    private func recover(_ batch: ArraySlice<StoreCommand>, from error: TransactionError) {
        switch error {
        case .fatal(let error):
            refuse(batch, error)
            ledger.handOut(now: configuration.unixMilliseconds())
            fail(error)
        case .full(let error):
            giveUpReserve(error)
            if let failure { return refuse(batch, failure) }
            processOnFullDisk(batch)
        case .refused(let error) where batch.count == 1: refuse(batch, error)
        case .refused:
            // One command's fault must not fail its neighbours, and is rare enough to pay for a commit of each.
            for index in batch.indices { process(batch[index...index]) }
        }
    }

    private func refuse(_ batch: ArraySlice<StoreCommand>, _ error: StoreError) {
        for command in batch { ledger.refuse(command, error.description) }
    }

    // MARK: A full disk

    /// Whether notifications may be stored; after a full disk, once the reserve is back.
    private func hasSpace() -> Bool {
        if reserve.isHeld { return true }
        let now = MonotonicTime.now
        guard now >= nextRestore else { return false }
        nextRestore = now.advanced(byMilliseconds: WriterLimits.reserveRetryMilliseconds)
        reserve.restore()
        if reserve.isHeld { configuration.onNotice(.spaceReturned) }
        return reserve.isHeld
    }

    private func giveUpReserve(_ error: StoreError) {
        if reserve.isHeld { configuration.onNotice(.diskFull(error)) }
        reserve.release()
        nextRestore = MonotonicTime.now.advanced(byMilliseconds: WriterLimits.reserveRetryMilliseconds)
        // The log's space is worth more on the disk than in the log.
        checkpoint(.truncate)
    }

    /// Goes on with what a full disk allows: removals, in steps as small as it takes, or at least what only reads.
    private func processOnFullDisk(_ batch: ArraySlice<StoreCommand>) {
        if let failure { return refuse(batch, failure) }
        do {
            try commit(batch, upTo: .shrinking)
            checkpoint(.truncate)
        } catch .full where batch.count > 1 {
            let middle = batch.startIndex + batch.count / 2
            processOnFullDisk(batch[..<middle])
            processOnFullDisk(batch[middle...])
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
        executor.backups.end(error)
        connection.leaveLogOnClose()
        onFatal(error)
    }

    // MARK: Between transactions

    /// Reads the next notifications for streams that have room, a bounded number in all.
    private func feedStreams() {
        var rowCount = 0
        while failure == nil, ledger.streams.hasHungry, rowCount < WriterLimits.rowsReadPerTurnCountMax {
            for device in ledger.takeHungry() {
                if rowCount >= WriterLimits.rowsReadPerTurnCountMax || failure != nil {
                    ledger.postpone(device)
                } else if let stream = ledger.streams.hungryStream(of: device) {
                    rowCount += feed(device, stream)
                }
            }
        }
    }

    private func feed(_ device: DeviceID, _ stream: DeviceStream) -> Int {
        var read: [PendingNotification] = []
        var rowCount = 0
        var last = stream.lastSent
        do {
            try executor.forEachWaiting(
                of: device, isListener: ledger.listens(device), after: stream.lastSent,
                now: configuration.unixMilliseconds(), countMax: stream.room
            ) { pending, isIntact in
                rowCount += 1
                last = pending.sequence
                if isIntact { read.append(pending) } else { noteDamage(pending) }
            }
        } catch {
            fail(StoreError(error, path: configuration.path))
            return rowCount
        }
        ledger.refill(device, read, through: last, isComplete: rowCount < stream.room)
        return rowCount
    }

    /// Leaves out a row that is not what was written; the next sweep deletes it.
    private func noteDamage(_ pending: PendingNotification) {
        nextSweep = .now
        if pending.notification.channel != nil {
            // Every subscriber's stream comes across the same row.
            guard damage.broadcasts.insert(pending.sequence).inserted else { return }
        } else {
            let address = pending.notification.address
            damage.notifications.append(
                PendingTable.Removed(sequence: pending.sequence, device: address.device, topic: address.topic))
        }
        configuration.onNotice(.damagedRow(sequence: pending.sequence))
    }

    private func checkpointIfLong() {
        if connection.logPageCount >= reserve.logPageCountHigh { checkpoint(.passive) }
    }

    private func checkpoint(_ kind: Connection.Checkpoint) {
        do {
            try connection.checkpoint(kind)
        } catch {
            // A full disk keeps the log, which is safe, and the next commit tries again.
            let failed = TransactionError(error, path: configuration.path, isCommitting: true)
            if case .fatal(let error) = failed { fail(error) }
        }
    }

    /// Deletes what expired and notes who was seen, a bounded number in one step.
    private func sweepIfDue() {
        let now = MonotonicTime.now
        guard now >= nextSweep else { return }
        nextSweep = now.advanced(byMilliseconds: configuration.sweepIntervalMilliseconds)
        guard failure == nil else { return }
        if now >= nextNote {
            nextNote = now.advanced(byMilliseconds: WriterLimits.seenIntervalMilliseconds)
            ledger.noteSeen(ledger.streams.openDevices)
            noteRunning([])
        }
        if sweep() { nextSweep = now }
    }

    /// One step of a sweep; true when there is more to do.
    private func sweep() -> Bool {
        let seen = ledger.takeDeparted(countMax: WriterLimits.devicesNotedPerStepCountMax)
        var isMore = seen.count == WriterLimits.devicesNotedPerStepCountMax
        let isDone = attempt { () throws(SQLiteError) in
            try executor.noteSeen(seen)
            if try executor.sweep(damage, isConnected: ledger.streams.isOpen) { isMore = true }
        }
        guard isDone else {
            ledger.noteSeen(seen)
            return false
        }
        damage = Damage()
        return isMore
    }

    /// Writes down that devices were connected up to now, and leaves a file without a log.
    private func close() {
        executor.backups.end(.failed(path: configuration.path, code: 4, text: "the server stopped"))
        ledger.noteSeen(ledger.streams.openDevices)
        noteRunning(ledger.takeDeparted(countMax: .max))
        if failure == nil { checkpoint(.truncate) }
    }

    /// Writes down that the server ran and devices were connected up to now; on a full disk, an older time stays.
    private func noteRunning(_ seen: [DeviceID]) {
        guard failure == nil, reserve.isHeld else { return }
        _ = attempt { () throws(SQLiteError) in try executor.noteRunning(seen) }
    }

    /// Runs a transaction that nobody waits for; false when it did not happen.
    private func attempt(_ body: () throws(SQLiteError) -> Void) -> Bool {
        do {
            try transaction(body)
            return true
        } catch {
            switch error {
            case .full(let error): giveUpReserve(error)
            case .fatal(let error): fail(error)
            case .refused: break  // A later sweep tries again.
            }
            return false
        }
    }
}
