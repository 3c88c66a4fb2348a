// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

extension Writer {
    // MARK: A full disk

    /// Whether notifications may be stored; after a full disk, once the reserve is back.
    func hasSpace() -> Bool {
        if reserve.isHeld { return true }
        let now = MonotonicTime.now
        guard now >= nextRestore else { return false }
        nextRestore = now.advanced(byMilliseconds: WriterLimits.reserveRetryMilliseconds)
        reserve.restore(unusedByteCount: ((try? connection.unusedPageCount()) ?? 0) * WriterLimits.pageByteCount)
        if reserve.isHeld { configuration.onNotice(.spaceReturned) }
        return reserve.isHeld
    }

    func giveUpReserve(_ error: StoreError) {
        if reserve.isHeld { configuration.onNotice(.diskFull(error)) }
        reserve.release()
        nextRestore = MonotonicTime.now.advanced(byMilliseconds: WriterLimits.reserveRetryMilliseconds)
        // The log's space is worth more on the disk than in the log.
        checkpoint(.truncate)
    }

    /// Goes on with what a full disk allows: no new notifications, but removals.
    func commitOnFullDisk(_ batch: ArraySlice<StoreCommand>, _ due: Due) {
        dispatcher.refuseNotifications(due)
        commitDeletionsOnFullDisk()
        if !batch.isEmpty { executeOnFullDisk(batch) }
    }

    /// Deletes in steps as small as it takes.
    private func commitDeletionsOnFullDisk() {
        let dispatcher = dispatcher
        var countMax = WriterLimits.deletionsPerTransactionCountMax
        while failure == nil, dispatcher.hasDeletions {
            do throws(TransactionError) {
                try transaction { () throws(SQLiteError) in try dispatcher.writeDeletions(countMax: countMax) }
                dispatcher.confirmDeletions(countMax: countMax)
                checkpoint(.truncate)
            } catch {
                switch error {
                case .full where countMax > 1: countMax /= 2
                case .full(let error), .refused(let error): return dispatcher.refuseDeletions(error.description)
                case .fatal(let error): fail(error)
                }
            }
        }
    }

    /// Executes removals, in steps as small as it takes, or at least what only reads.
    private func executeOnFullDisk(_ batch: ArraySlice<StoreCommand>) {
        if let failure { return refuseAll(batch, failure) }
        do {
            try execute(batch, upTo: .shrinking)
            checkpoint(.truncate)
        } catch .full where batch.count > 1 {
            let middle = batch.startIndex + batch.count / 2
            executeOnFullDisk(batch[..<middle])
            executeOnFullDisk(batch[middle...])
        } catch .full {
            executeReading(batch)
        } catch {
            recoverOnFullDisk(batch, from: error)
        }
    }

    private func executeReading(_ batch: ArraySlice<StoreCommand>) {
        do {
            try execute(batch, upTo: .reading)
        } catch .full(let error) {
            // It writes nothing, so this cannot be; if it is, each command is refused for itself.
            recoverOnFullDisk(batch, from: .refused(error))
        } catch {
            recoverOnFullDisk(batch, from: error)
        }
    }

    private func execute(_ batch: ArraySlice<StoreCommand>, upTo need: Executor.Need) throws(TransactionError) {
        try transaction { () throws(SQLiteError) in
            for command in batch { try executor.execute(command, upTo: need) }
        }
    }

    private func recoverOnFullDisk(_ batch: ArraySlice<StoreCommand>, from error: TransactionError) {
        switch error {
        case .fatal(let error), .full(let error): refuseAll(batch, error)
        case .refused(let error) where batch.count == 1:
            for command in batch { dispatcher.ledger.refuse(command, error.description) }
        case .refused:
            for index in batch.indices { executeOnFullDisk(batch[index...index]) }
        }
    }

    // MARK: The log

    func checkpointIfLong() {
        if connection.logPageCount >= reserve.logPageCountHigh { checkpoint(.passive) }
    }

    /// Whether commits are synchronized later than they are answered.
    var isSynchronizedLater: Bool { configuration.durability != .full }

    /// Synchronizes what was committed within the last second, where commits do not do that.
    func synchronizeIfDue() {
        guard isSynchronizedLater, failure == nil, connection.logPageCount > 0 else { return }
        let now = MonotonicTime.now
        guard now >= nextSynchronization else { return }
        nextSynchronization = now.advanced(byMilliseconds: WriterLimits.synchronizationMilliseconds)
        // A checkpoint synchronizes the log, and then the database.
        checkpoint(.passive)
    }

    func checkpoint(_ kind: Connection.Checkpoint) {
        do {
            try connection.checkpoint(kind)
        } catch {
            // A full disk keeps the log, which is safe, and the next commit tries again.
            let failed = TransactionError(error, path: configuration.path, isCommitting: true)
            if case .fatal(let error) = failed { fail(error) }
        }
    }
}
