// SPDX-License-Identifier: Apache-2.0

package import PushNet
package import PushSQL

/// Retries failed writes after a pause that doubles up to a minute, because a full disk may have space later.
package final class StorageRetry {
    /// Called with the SQLite error of each failure.
    package var onFailure: ((SQLError) -> Void)?
    /// Called after the pause, when all failed writes have succeeded.
    package var onRetry: (() -> Void)?

    private let loop: EventLoop
    private var refused: [() throws(SQLError) -> Void] = []
    private var pause = RetryPause()
    private var timer: TimerID?

    package init(loop: EventLoop) { self.loop = loop }

    deinit { if let timer { loop.cancel(timer) } }

    /// Whether a write has failed and its retry is still due.
    package var isWaiting: Bool { timer != nil }

    /// Runs a write now, or later after the writes that failed before it.
    package func write(_ body: @escaping () throws(SQLError) -> Void) {
        guard !isWaiting else { return refused.append(body) }
        do {
            try body()
        } catch {
            failed(error, redoing: body)
        }
    }

    /// Schedules a retry; `body` is the failed write, or nil if `onRetry` repeats it.
    package func failed(_ error: SQLError, redoing body: (() throws(SQLError) -> Void)? = nil) {
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
