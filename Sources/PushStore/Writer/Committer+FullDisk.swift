// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL
internal import PushSQLite

extension Committer {
    // MARK: A full disk

    /// Commits what a full disk allows: refuses new notifications but executes removals.
    func commitOnFullDisk(_ batch: ArraySlice<StoreTask>, _ due: Due) {
        dispatcher.refuseNotifications(due)
        commitDeletionsOnFullDisk()
        if !batch.isEmpty { executeOnFullDisk(batch) }
    }

    /// Deletes in steps, and halves their size while the disk is full.
    private func commitDeletionsOnFullDisk() {
        let dispatcher = dispatcher
        var countMax = WriterLimits.deletionsPerTransactionCountMax
        while failure == nil, dispatcher.hasDeletions {
            do throws(TransactionError) {
                try transaction { () throws(SQLError) in try dispatcher.writeDeletions(countMax: countMax) }
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

    /// Executes removals, splitting the batch while the disk is full; finally executes only requests that read.
    private func executeOnFullDisk(_ batch: ArraySlice<StoreTask>) {
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

    private func executeReading(_ batch: ArraySlice<StoreTask>) {
        do {
            try execute(batch, upTo: .reading)
        } catch .full(let error) {
            // A transaction that writes nothing cannot find the disk full. If it does, each request is refused alone.
            recoverOnFullDisk(batch, from: .refused(error))
        } catch {
            recoverOnFullDisk(batch, from: error)
        }
    }

    private func execute(_ batch: ArraySlice<StoreTask>, upTo need: DiskAccess) throws(TransactionError) {
        try transaction { () throws(SQLError) in
            for task in batch { try executor.execute(task, upTo: need) }
        }
    }

    private func recoverOnFullDisk(_ batch: ArraySlice<StoreTask>, from error: TransactionError) {
        switch error {
        case .fatal(let error), .full(let error): refuseAll(batch, error)
        case .refused(let error) where batch.count == 1:
            refuse(batch, error)
        case .refused:
            for index in batch.indices { executeOnFullDisk(batch[index...index]) }
        }
    }
}
