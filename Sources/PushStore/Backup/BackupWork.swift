// SPDX-License-Identifier: Apache-2.0

internal import PushSQL
internal import PushSQLite

/// Copies the database between the writer's transactions, a bounded number of pages at a time.
///
/// ```
/// idle ──begin──▶ running ──step … step──▶ idle, `onEnd(nil)`
///                    └──────a failure, or the store closes──▶ idle, `onEnd(error)`
/// ```
/// Only one copy runs at a time.
///
/// A failed copy is not a failure of the store, because the copy may lie on another disk.
final class BackupWork {
    private let connection: Connection
    private var running: (order: StoreBackup, copy: DatabaseCopy)?

    init(_ connection: Connection) { self.connection = connection }

    var isRunning: Bool { running != nil }

    /// Creates the new file, or refuses while another copy is running.
    ///
    /// The writer executes the commands of a rolled-back transaction again, so the same order may come twice.
    func begin(_ order: StoreBackup) -> Result<StoreAnswer, StoreRefusal> {
        if let running {
            return running.order.path.utf8.elementsEqual(order.path.utf8) ? .success(.done) : .failure(.alreadyExists)
        }
        do throws(SQLError) {
            running = (order, try DatabaseCopy(of: connection, to: order.path))
            return .success(.done)
        } catch {
            let error = StoreError(error, path: order.path)
            order.onEnd(error)
            return .failure(.unavailable(error.description))
        }
    }

    /// Copies the next pages.
    ///
    /// The writer calls this between two transactions.
    func step() {
        guard let (order, copy) = running else { return }
        do throws(SQLError) {
            let isComplete = try copy.step(pageCount: WriterLimits.pagesCopiedPerStepCountMax)
            order.onProgress(
                StoreBackup.Progress(pageCount: copy.pageCount, remainingPageCount: copy.remainingPageCount))
            if isComplete { end(nil) }
        } catch {
            end(StoreError(error, path: order.path))
        }
    }

    /// Stops the running copy and reports the error; nil means that the copy is complete.
    func end(_ error: StoreError?) {
        guard let order = running?.order else { return }
        // Close the new file before `onEnd` runs.
        running = nil
        order.onEnd(error)
    }
}
