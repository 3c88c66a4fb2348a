// SPDX-License-Identifier: Apache-2.0

package import PushNet

/// Connects anew to a bus that went, after pauses that grow to a minute.
///
/// Only what stood once is made again: a machine without such a bus is left in peace.
package final class BusRevival {
    private let loop: EventLoop
    private let connect: () throws -> Void
    private var pause = RetryPause()
    private var timer: TimerID?

    /// Does nothing until the connection is lost.
    ///
    /// - Parameters:
    ///   - loop: Whose thread this is.
    ///   - connect: Makes the connection, and all that is done with it.
    package init(loop: EventLoop, connect: @escaping () throws -> Void) {
        self.loop = loop
        self.connect = connect
    }

    deinit { if let timer { loop.cancel(timer) } }

    /// The connection was lost.
    package func lost() {
        guard timer == nil else { return }
        timer = loop.schedule(after: pause.next(asked: nil)) { [weak self] in self?.revive() }
    }

    private func revive() {
        timer = nil
        do {
            try connect()
            pause.reset()
        } catch {
            lost()
        }
    }
}
