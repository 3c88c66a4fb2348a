// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushDBus
internal import PushNet
internal import PushSound

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
        let manifests = AppManifestFiles(environment: environment)
        surroundings.manifest = manifests.find
        do {
            let connection = try BusConnection(.session)
            driver = try BusDriver(loop: loop, connection: connection)
            self.connection = connection
        } catch {
            connection = nil
            let text = (error as? BusError)?.message ?? "\(error)"
            agentLog.info("no_session_bus", ["consequence": "no Agent1 service, no desktop", "error": text])
        }
        driver?.connectionLost = { [weak self] error in
            agentLog.warning("session_bus_lost", ["error": error.message])
            self?.onBusLost()
        }
        surroundings.filter = AppFilters(connection: connection, loop: loop, environment: environment)
        if let connection { addDesktop(connection, loop: loop, environment: environment) }
        addSounds(loop: loop, environment: environment)
        chooseTerminal(wantsTerminal)
        agentLog.info("presenter", ["name": surroundings.presenterName])
    }

    private func addDesktop(_ connection: BusConnection, loop: EventLoop, environment: [String: String]) {
        surroundings.opener = AppLauncher(connection: connection, environment: environment)
        do {
            surroundings.presenter = try DesktopPresenter(
                connection: connection, loop: loop, environment: environment)
            surroundings.presenterName = "desktop"
            surroundings.badges = try LauncherBadges(bus: .session, loop: loop, watcher: connection, log: agentLog)
        } catch {
            agentLog.warning("no_desktop", ["error": error.message])
        }
    }

    private func addSounds(loop: EventLoop, environment: [String: String]) {
        surroundings.soundInstaller = SoundInstaller(environment: environment)
        do {
            surroundings.sounds = try DesktopSounds(environment: environment, log: agentLog)
            let watch = try SoundStateWatch(loop: loop)
            let desk = surroundings.desk
            surroundings.desk = {
                var state = desk()
                let sound = watch.current()
                (state.isMuted, state.isRecording) = (sound.isMuted, sound.isRecording)
                return state
            }
        } catch {
            agentLog.warning("no_sounds", ["error": "\(error)"])
        }
    }

    private func chooseTerminal(_ wantsTerminal: Bool) {
        let hasDesktop = surroundings.presenter?.isAvailable ?? false
        guard wantsTerminal || (!hasDesktop && isatty(STDOUT_FILENO) == 1) else { return }
        surroundings.presenter = TerminalPresenter()
        surroundings.presenterName = "terminal"
    }
}
