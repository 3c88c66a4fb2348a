// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushDBus
internal import PushNet

/// Finds out what there is to present with, and holds it.
///
/// | There is                                     | Alerts go to            |
/// |----------------------------------------------|-------------------------|
/// | `--terminal`                                 | standard output         |
/// | a session bus with a notification service    | the desktop             |
/// | no such service, but a terminal              | standard output         |
/// | a session bus only                           | the desktop, once there |
/// | nothing                                      | the inbox only          |
final class Desk {
    /// The session bus; nil when there is none.
    let connection: BusConnection?
    /// What was found.
    private(set) var surroundings: Surroundings
    /// Called when the session bus went away; it does not come back on this connection.
    var onBusLost: () -> Void = {}
    private var driver: BusDriver?

    init(loop: EventLoop, environment: [String: String], wantsTerminal: Bool) {
        let entries = DesktopEntries(environment: environment)
        surroundings = Surroundings(describeApp: { appID in entries.find(appID).map { ($0.name, $0.icon) } })
        do {
            let connection = try BusConnection(.session)
            driver = try BusDriver(loop: loop, connection: connection)
            self.connection = connection
        } catch {
            connection = nil
            let text = (error as? BusError)?.message ?? "\(error)"
            Log.event("no_session_bus", [("consequence", "no Agent1 service, no desktop"), ("error", text)])
        }
        driver?.connectionLost = { [weak self] error in
            Log.event("session_bus_lost", [("error", error.message)])
            self?.onBusLost()
        }
        addDesktop(loop: loop, environment: environment)
        chooseTerminal(wantsTerminal)
        Log.event("presenter", [("name", surroundings.presenterName)])
    }

    private func addDesktop(loop: EventLoop, environment: [String: String]) {}

    private func chooseTerminal(_ wantsTerminal: Bool) {
        let hasDesktop = surroundings.presenter?.isAvailable ?? false
        guard wantsTerminal || (!hasDesktop && isatty(STDOUT_FILENO) == 1) else { return }
        surroundings.presenter = TerminalPresenter()
        surroundings.presenterName = "terminal"
    }
}
