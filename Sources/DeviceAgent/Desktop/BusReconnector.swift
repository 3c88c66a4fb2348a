// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushNet

/// Reconnects to a bus that was lost, after delays that grow to one minute.
///
/// It only acts after a lost connection, so a machine without such a bus causes no attempts.
final class BusReconnector {
    private let loop: EventLoop
    private let connect: () throws -> Void
    private var pause = RetryPause()
    private var timer: TimerID?

    /// Creates the reconnector; it does nothing until `lost` is called.
    ///
    /// - Parameters:
    ///   - loop: The loop on whose thread this runs.
    ///   - connect: Opens the connection and restores all that depends on it.
    init(loop: EventLoop, connect: @escaping () throws -> Void) {
        self.loop = loop
        self.connect = connect
    }

    deinit { if let timer { loop.cancel(timer) } }

    /// Reports that the connection was lost, and schedules an attempt to reconnect.
    func lost() {
        guard timer == nil else { return }
        timer = loop.schedule(after: pause.next(asked: nil)) { [weak self] in self?.reconnect() }
    }

    private func reconnect() {
        timer = nil
        do {
            try connect()
            pause.reset()
        } catch {
            lost()
        }
    }
}
