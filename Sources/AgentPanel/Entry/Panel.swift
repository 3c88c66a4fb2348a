// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PanelToolkit
internal import PushNet

/// The panel's application object: the bus name `org.posthorn.Panel`, the windows, and the process's end.
package final class Panel {
    /// The bus name, which is also the name of the .desktop file and the icon.
    static let applicationID = "org.posthorn.Panel"
    /// The time for which the process stays without a window, so that it can show another alert.
    private static let inactivityMilliseconds: UInt32 = 5000

    /// The window that opens at the start.
    package enum Start: Sendable {
        case window
        /// The main window with the settings tab.
        case settings
        /// No window until the bus activates an action.
        case service
    }

    private let application: Application
    private let stateFile = PanelStateFile()
    private var startTab: PanelTab?
    private var cache: AgentStateCache?
    private var alertController: AlertWindowController?
    private var mainWindow: MainWindow?
    private var hasBus = true

    private init(_ start: Start) {
        application = Application(id: Self.applicationID, isService: start == .service)
        application.setInactivity(milliseconds: Self.inactivityMilliseconds)
        application.joinSession()
        if start == .settings { startTab = .settings }
    }

    /// Runs until the last window is closed.
    ///
    /// - Parameter start: The window to open.
    /// - Returns: The exit status.
    package static func run(_ start: Start) -> Int32 {
        Texts.load()
        let panel = Panel(start)
        panel.listen()
        if start == .settings, panel.application.register() == true {
            panel.application.activateRemotely(action: "show-settings")
        }
        // If another instance runs, this call raises that instance's window, disconnects from the bus and returns.
        let status = panel.application.run()
        return panel.hasBus ? status : 1
    }

    private func listen() {
        application.onStartup { [weak self] in self?.begin() }
        // Every kind of shutdown closes the alert on the screen: the session's end, a signal, a lost bus.
        application.onShutdown { [weak self] in
            self?.alertController?.closeBeforeTheEnd()
            self?.keepState()
        }
        application.onActivated { [weak self] in
            guard let self else { return }
            open(mainWindow == nil ? startTab : nil)
        }
        application.addAction("show-alerts") { [weak self] in self?.cache?.ask(.alerts) }
        application.addAction("show-settings") { [weak self] in self?.open(.settings) }
        application.addAction("show-notifications") { [weak self] in self?.open(.notifications) }
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            MainLoop.onSignal(signal) { [weak self] in self?.application.quit() }
        }
    }

    private func begin() {
        StyleSheet.load(PanelStyle.sheet)
        let cache = AgentStateCache()
        hasBus = cache.agent != nil
        guard hasBus else {
            StandardStream.error.write(
                """
                posthorn-panel: There is no session bus.
                  Start posthorn-panel in a desktop session, or set DBUS_SESSION_BUS_ADDRESS.

                """)
            return application.quit()
        }
        self.cache = cache
        // An inactive main window may be hidden, and would then hide an alert that is transient for it.
        alertController = AlertWindowController(application, cache) { [weak self] in
            self?.mainWindow.flatMap { $0.window.isActive ? $0.window : nil }
        }
    }

    /// Opens the main window or raises it; without a tab, a new window shows the tab of the last run.
    private func open(_ tab: PanelTab?) {
        guard let cache else { return }
        let window =
            mainWindow
            ?? MainWindow(of: application, cache, stateFile.state) { [weak self] in
                self?.keepState()
                self?.mainWindow = nil
            }
        mainWindow = window
        if let tab { window.show(tab) }
        window.present()
    }

    private func keepState() {
        if let mainWindow { stateFile.save(mainWindow.currentState) }
    }
}
