// SPDX-License-Identifier: Apache-2.0

internal import PushDBus
internal import PushNet

/// A delay lock of logind's: while we hold it, the machine waits with going to sleep, for five seconds at most.
final class SleepLock {
    private let connection: BusConnection
    private var held: BusDescriptor?

    init(_ connection: BusConnection) { self.connection = connection }

    /// Asks for it; it is held once logind has answered.
    func take() {
        let arguments: [BusValue] = [
            .string("sleep"), .string("Posthorn"), .string("Says goodbye to the server"), .string("delay"),
        ]
        connection.sendForDescriptor(
            "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "Inhibit", arguments
        ) { [weak self] result in
            switch result {
            case .success(let descriptor): self?.held = descriptor
            // Without it the machine may sleep before the goodbye is out: the server finds out a little later.
            case .failure(let error): agentLog.info("no_sleep_lock", ["error": error.message])
            }
        }
    }

    /// Lets the machine sleep.
    func release() { held = nil }
}
