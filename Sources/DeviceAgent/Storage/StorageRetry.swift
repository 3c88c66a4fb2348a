// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushSQLite

/// Does again, after a while that doubles up to a minute, what the database refused: a full disk has room later.
final class StorageRetry {
    /// Gets what SQLite said.
    var onFailure: ((SQLiteError) -> Void)?
    /// Called when the while is over, and all is written that was refused before.
    var onRetry: (() -> Void)?

    private let loop: EventLoop
    private var refused: [() throws(SQLiteError) -> Void] = []
    private var pause = RetryPause()
    private var timer: TimerID?

    init(loop: EventLoop) { self.loop = loop }

    deinit { if let timer { loop.cancel(timer) } }

    /// Whether the database refused something, and was not asked again since.
    var isWaiting: Bool { timer != nil }

    /// Writes something, now or as soon as the database takes it; in the order of the calls.
    func write(_ body: @escaping () throws(SQLiteError) -> Void) {
        guard !isWaiting else { return refused.append(body) }
        do {
            try body()
        } catch {
            failed(error, redoing: body)
        }
    }

    /// Something was refused: what is to be done again, if it is not done by `onRetry`.
    func failed(_ error: SQLiteError, redoing body: (() throws(SQLiteError) -> Void)? = nil) {
        if let body { refused.append(body) }
        onFailure?(error)
        guard timer == nil else { return }
        timer = loop.schedule(after: pause.next(asked: nil)) { [weak self] in self?.retry() }
    }

    private func retry() {
        timer = nil
        do {
            while let body = refused.first {
                try body()
                refused.removeFirst()
            }
        } catch {
            return failed(error)
        }
        onRetry?()
        if timer == nil { pause.reset() }
    }
}
