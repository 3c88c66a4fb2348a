// SPDX-License-Identifier: Apache-2.0

internal import PushSQLite

/// Copies the database between the writer's transactions, a bounded number of pages at a time.
///
/// ```
/// idle ──begin──▶ running ──step … step──▶ idle, told that it is complete
///                    └──────a failure, or the store ends──▶ idle, told why
/// ```
/// One copy at a time. A copy that fails is no failure of the store: the copy lies on a disk of its own, perhaps.
final class BackupWork {
    private let connection: Connection
    private var running: (order: StoreBackup, copy: DatabaseCopy)?

    init(_ connection: Connection) { self.connection = connection }

    var isRunning: Bool { running != nil }

    /// Makes the new file; refuses while another copy is made.
    ///
    /// A transaction that was rolled back executes its commands again, so the same order may come twice.
    func begin(_ order: StoreBackup) -> Executor.Verdict {
        if let running {
            return running.order.path.utf8.elementsEqual(order.path.utf8) ? .success(.done) : .failure(.alreadyExists)
        }
        do throws(SQLiteError) {
            running = (order, try DatabaseCopy(of: connection, to: order.path))
            return .success(.done)
        } catch {
            let error = StoreError(error, path: order.path)
            order.onEnd(error)
            return .failure(.unavailable(error.description))
        }
    }

    /// Copies the next pages; between two transactions.
    func step() {
        guard let (order, copy) = running else { return }
        do throws(SQLiteError) {
            let isComplete = try copy.step(pageCount: WriterLimits.pagesCopiedPerStepCountMax)
            order.onProgress(
                StoreBackup.Progress(pageCount: copy.pageCount, remainingPageCount: copy.remainingPageCount))
            if isComplete { end(nil) }
        } catch {
            end(StoreError(error, path: order.path))
        }
    }

    /// Stops what is running, and tells why.
    func end(_ error: StoreError?) {
        guard let order = running?.order else { return }
        // Closes the new file, before anybody is told.
        running = nil
        order.onEnd(error)
    }
}
