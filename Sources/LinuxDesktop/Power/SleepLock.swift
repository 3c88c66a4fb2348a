// SPDX-License-Identifier: Apache-2.0

internal import PushDBus
internal import PushNet

/// A delay lock of logind: while it is held, logind delays sleep for at most five seconds.
final class SleepLock {
    private let connection: BusConnection
    private let log: EventLog
    private var held: BusDescriptor?

    init(_ connection: BusConnection, log: EventLog) {
        self.connection = connection
        self.log = log
    }

    /// Requests the lock; it is held once logind has answered.
    func take() {
        let arguments: [BusValue] = [
            .string("sleep"), .string("Posthorn"), .string("Says goodbye to the server"), .string("delay"),
        ]
        connection.sendForDescriptor(
            "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "Inhibit", arguments
        ) { [weak self, log] result in
            switch result {
            case .success(let descriptor): self?.held = descriptor
            // Without it the machine may sleep before the last message is sent; the server notices that a little later.
            case .failure(let error): log.info("no_sleep_lock", ["error": error.message])
            }
        }
    }

    /// Releases the lock, so that the machine can sleep.
    func release() { held = nil }
}
