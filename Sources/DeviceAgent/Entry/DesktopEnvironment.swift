// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import Glibc
internal import LinuxDesktop
internal import PushAPI
internal import PushCore
internal import PushDBus
internal import PushNet
internal import PushSound

/// Detects the desktop environment and creates the presenters that it supports.
///
/// | Environment                                  | Alerts go to            |
/// |----------------------------------------------|-------------------------|
/// | `--terminal`                                 | standard output         |
/// | a session bus with a notification service    | the desktop, the panel  |
/// | no such service, but a terminal              | standard output         |
/// | a session bus only                           | the desktop, once there |
/// | another bus, by POSTHORN_AGENT_BUS           | the inbox only          |
/// | none of these                                | the inbox only          |
///
/// An app's hook runs together with any of them, and replaces a missing one.
final class DesktopEnvironment {
    /// The bus on which the agent is reached, by default the session bus; nil if no bus is available.
    let connection: BusConnection?
    private(set) var agentEnvironment: AgentEnvironment
    /// Called when the session bus is lost; this connection does not reconnect.
    var onBusLost: () -> Void = {}
    /// Called when the state of the desktop session has changed, which may include power saving.
    var onPowerChange: () -> Void = {}
    /// Called when the screen may have been locked or unlocked.
    var onLockChange: () -> Void = {}
    private var driver: BusDriver?
    private let watch = SessionMonitor()
    private var systemDriver: BusDriver?
    private var systemReconnector: BusReconnector?

    /// Detects the environment and creates the presenters.
    ///
    /// - Parameters:
    ///   - loop: The loop on whose thread this runs.
    ///   - environment: The process's variables.
    ///   - wantsTerminal: Whether alerts go to standard output in any case.
    /// - Throws: An error when `POSTHORN_AGENT_BUS` names a bus that does not exist, because the agent could not be
    ///   reached.
    init(loop: EventLoop, environment: [String: String], wantsTerminal: Bool) throws(AgentConfigurationError) {
        let entries = DesktopEntries(environment: environment)
        agentEnvironment = AgentEnvironment(describeApp: { appID in entries.find(appID).map { ($0.name, $0.icon) } })
        agentEnvironment.linkSchemes = { appID in entries.find(appID)?.schemes }
        let manifests = AppManifestFiles(environment: environment)
        agentEnvironment.manifest = manifests.find
        agentEnvironment.texts = AppTexts(environment: environment).translation
        agentEnvironment.hooks = HookRunner(
            loop: loop, folders: AgentDirectories(environment: environment).hooks, environment: environment)
        let bus = BusConnection.Bus.ofAgent(environment: environment)
        do {
            let connection = try BusConnection(bus)
            driver = try BusDriver(loop: loop, connection: connection)
            self.connection = connection
        } catch {
            connection = nil
            let text = (error as? BusError)?.message ?? "\(error)"
            if let value = BusConnection.Bus.agentValue(environment: environment) {
                throw AgentConfigurationError(busValue: value, text)
            }
            agentLog.warning("no_bus", ["consequence": "no Agent1 service, no desktop", "error": text])
        }
        driver?.connectionLost = { [weak self] error in
            agentLog.warning("bus_lost", ["error": error.message])
            self?.onBusLost()
        }
        agentEnvironment.filter = AppFilters(connection: connection, loop: loop, environment: environment)
        if let connection, bus.isSession { addDesktop(connection, loop: loop, environment: environment) }
        watchSession(loop: loop)
        if let connection, bus.isSession { watchSettings(connection, loop: loop, environment: environment) }
        addSounds(loop: loop, environment: environment)
        chooseTerminal(wantsTerminal)
        agentLog.info("presenter", ["name": agentEnvironment.presenterName])
    }

    private func addDesktop(_ connection: BusConnection, loop: EventLoop, environment: [String: String]) {
        agentEnvironment.opener = AppLauncher(connection: connection, loop: loop, environment: environment)
        do {
            let panel = try PanelAlerts(connection: connection, loop: loop)
            agentEnvironment.panel = panel
            agentEnvironment.presenter = try StyledPresenter(
                panel: panel,
                desktop: DesktopPresenter(connection: connection, loop: loop, environment: environment))
            agentEnvironment.presenterName = "desktop"
            agentEnvironment.badges = try LauncherBadges(bus: .session, loop: loop, watcher: connection, log: agentLog)
        } catch {
            agentLog.warning("no_desktop", ["error": error.message])
        }
    }

    /// Whether the machine saves power.
    var savesPower: Bool { watch.savesPower }

    /// Watches other programs for a locked screen, do-not-disturb, muted sounds and power saving.
    private func watchSession(loop: EventLoop) {
        let sources = DesktopStateSource.lockers + DesktopStateSource.quiet + DesktopStateSource.silence
        do {
            if let connection { try watch.watch(sources, on: connection) }
            systemReconnector = BusReconnector(loop: loop) { [weak self] in try self?.watchSystem(loop: loop) }
            try watchSystem(loop: loop)
        } catch {
            agentLog.info("desk_not_watched", ["error": (error as? BusError)?.message ?? "\(error)"])
        }
        let others = agentEnvironment.currentDesktopState
        agentEnvironment.currentDesktopState = { [watch] in
            var state = others()
            (state.isLocked, state.isQuiet, state.lacksEventSounds) = (watch.isLocked, watch.isQuiet, watch.isSilent)
            return state
        }
        watch.onChange = { [weak self, weak watch] in
            guard let watch else { return }
            agentLog.info(
                "desk_changed",
                [
                    "locked": "\(watch.isLocked)", "quiet": "\(watch.isQuiet)",
                    "saves_power": "\(watch.savesPower)",
                ])
            self?.onPowerChange()
            self?.onLockChange()
        }
    }

    /// Watches the programs on the system bus; after a loss, `systemReconnector` calls it again.
    private func watchSystem(loop: EventLoop) throws {
        let system = try BusConnection(.system)
        let driver = try BusDriver(loop: loop, connection: system)
        driver.connectionLost = { [weak self] _ in self?.systemReconnector?.lost() }
        try watch.watch(DesktopStateSource.logind + DesktopStateSource.power, on: system)
        systemDriver = driver
    }

    /// Watches the desktop's settings for event sounds and do-not-disturb.
    private func watchSettings(_ connection: BusConnection, loop: EventLoop, environment: [String: String]) {
        do {
            let sounds = try EventSounds(
                connection: connection, loop: loop, environment: environment, log: agentLog)
            let quiet = try QuietSettings(
                connection: connection, loop: loop, environment: environment, log: agentLog)
            let others = agentEnvironment.currentDesktopState
            agentEnvironment.currentDesktopState = {
                var state = others()
                state.lacksEventSounds = state.lacksEventSounds || sounds.areOff
                state.isQuiet = state.isQuiet || quiet.isQuiet
                return state
            }
        } catch {
            agentLog.info("settings_not_watched", ["error": error.message])
        }
    }

    private func addSounds(loop: EventLoop, environment: [String: String]) {
        agentEnvironment.soundInstaller = SoundInstaller(environment: environment)
        do {
            agentEnvironment.sounds = try DesktopSounds(loop: loop, environment: environment, log: agentLog)
            let watch = try SoundStateWatch(loop: loop)
            agentEnvironment.knowsSounds = watch.isKnown
            let others = agentEnvironment.currentDesktopState
            agentEnvironment.currentDesktopState = {
                var state = others()
                let sound = watch.current()
                (state.isMuted, state.isRecording) = (sound.isMuted, sound.isRecording)
                return state
            }
        } catch {
            agentLog.warning("no_sounds", ["error": "\(error)"])
        }
    }

    private func chooseTerminal(_ wantsTerminal: Bool) {
        let hasDesktop = agentEnvironment.presenter?.isAvailable(for: .banner) ?? false
        guard wantsTerminal || (!hasDesktop && isatty(STDOUT_FILENO) == 1) else { return }
        agentEnvironment.presenter = TerminalPresenter()
        agentEnvironment.panel = nil
        agentEnvironment.presenterName = "terminal"
    }
}

extension AgentConfigurationError {
    /// Creates the error for a bus in `POSTHORN_AGENT_BUS` that does not exist, with the first sentence of D-Bus's
    /// error.
    fileprivate init(busValue value: String, _ text: String) {
        let why = text.prefix { $0 != "." }
        self.init(
            message: "cannot connect to the bus '\(value)' in \(BusConnection.Bus.agentVariable): \(why)",
            remedy: BusConnection.Bus.remedy(agentValue: value))
    }
}
