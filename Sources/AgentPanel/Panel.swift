// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

/// The panel's window: what came, and what each app may do.
///
/// Every switch acts at once.
package final class Panel {
    private let application: Widget
    private var agent: AgentProxy?
    private var notifications: Widget?
    private var settings: Widget?
    /// Groups on the two pages, which are made anew when something changed.
    private var notificationGroups: [Widget] = []
    private var settingGroups: [Widget] = []
    private var isRefreshPending = false

    private init() {
        application = .application(id: "org.posthorn.Panel")
    }

    /// Runs until the window is closed.
    ///
    /// - Returns: The exit status.
    package static func run() -> Int32 {
        let panel = Panel()
        Signals.connect(panel.application, "activate") { panel.open() }
        return panel.application.run()
    }

    private func open() {
        if let window = application.activeWindow { return window.present() }
        connect()
        let window = Widget.window(of: application, title: "Posthorn")
        let notifications = Widget.page(title: "Notifications", icon: "mail-unread-symbolic")
        let settings = Widget.page(title: "Settings", icon: "emblem-system-symbolic")
        window.add(page: notifications)
        window.add(page: settings)
        (self.notifications, self.settings) = (notifications, settings)
        refresh()
        window.present()
    }

    private func connect() {
        agent = try? AgentProxy { [weak self] in self?.needRefresh() }
        guard let connection = agent?.connection else { return }
        Signals.watch(connection.descriptor) { [weak self] in
            // A bus that is gone takes the session with it.
            guard (try? connection.process()) == nil else { return }
            self?.agent = nil
            self?.needRefresh()
        }
    }

    /// Gathers changes: not from within a switch's own signal, whose row would vanish under it.
    private func needRefresh() {
        guard !isRefreshPending else { return }
        isRefreshPending = true
        Signals.whenIdle { [weak self] in
            self?.isRefreshPending = false
            self?.refresh()
        }
    }

    private func refresh() {
        guard let notifications = notifications, let settings = settings else { return }
        for group in notificationGroups { notifications.remove(group: group) }
        for group in settingGroups { settings.remove(group: group) }
        do throws(BusError) {
            guard let agent else { throw BusError(name: "org.posthorn.Error.NoBus", message: "no session bus") }
            let (entries, apps, isOn) = (try agent.entries(), try agent.apps(), try agent.isMasterOn())
            notificationGroups = [entryGroup(entries)]
            settingGroups = [computerGroup(isOn, try agent.server())] + apps.map { appGroup($0) }
        } catch {
            (notificationGroups, settingGroups) = ([absentGroup()], [absentGroup()])
        }
        for group in notificationGroups { notifications.add(group: group) }
        for group in settingGroups { settings.add(group: group) }
    }

    /// A widget is on one page only, so each gets its own.
    private func absentGroup() -> Widget {
        Widget.group(title: "The agent is not running", description: "Start it: systemctl --user start posthorn-agent")
    }

    private func entryGroup(_ entries: [AgentProxy.Entry]) -> Widget {
        let group = Widget.group(
            title: entries.isEmpty ? "No notifications" : "Newest first",
            description: entries.isEmpty ? "What comes in is listed here." : nil)
        for entry in entries {
            group.add(row: .row(title: entry.appName, subtitle: entry.text.subtitle))
        }
        return group
    }

    private func computerGroup(_ isOn: Bool, _ server: ServerText) -> Widget {
        let group = Widget.group(title: "This computer")
        let row = Widget.switchRow(title: "Notifications", isOn: isOn) { [weak self] isOn in
            self?.change { agent throws(BusError) in try agent.setMaster(isOn) }
        }
        group.add(row: row)
        group.add(row: .row(title: "Server", subtitle: server.subtitle))
        return group
    }

    private func appGroup(_ app: AgentProxy.App) -> Widget {
        let group = Widget.group(title: app.name, description: app.badge > 0 ? "Badge \(app.badge)" : nil)
        for (setting, isOn) in zip(AgentProxy.Setting.allCases, app.allowed) {
            let row = Widget.switchRow(title: setting.title, isOn: isOn) { [weak self] isOn in
                self?.change { agent throws(BusError) in try agent.set(setting, of: app.id, to: isOn) }
            }
            group.add(row: row)
        }
        return group
    }

    /// Tells the agent; what it says afterwards is what is shown.
    private func change(_ body: (AgentProxy) throws(BusError) -> Void) {
        guard let agent else { return }
        if (try? body(agent)) == nil { needRefresh() }
    }
}

extension AgentProxy.Setting {
    /// What the switch allows.
    fileprivate var title: String {
        switch self {
        case .badge: "Badges"
        case .sound: "Sounds"
        case .alert: "Alerts"
        }
    }
}
