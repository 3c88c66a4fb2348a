// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit

/// The settings: global switches, the apps, and the server.
final class SettingsPage: Page {
    /// Whether the page is visible; while it is not, it ignores changes, because updating a row per app takes time.
    private var isOnScreen = false
    private let stack = Stack()
    private let table: PreferencesPage
    private let status = AbsenceText.page()
    private let appGroup = PreferencesGroup(tr("Apps"))
    private var appRows: [AppRow] = []
    private let serverGroup = PreferencesGroup(tr("This Computer"))
    private lazy var master = SwitchRow(tr("Notifications")) { [weak self] in self?.set("master", $0) }
    private lazy var silent = SwitchRow(tr("Silence Sounds")) { [weak self] in self?.set("silent", $0) }
    private lazy var tray = SwitchRow(tr("Tray Icon")) { [weak self] in self?.set("tray", $0) }
    private lazy var quiet = ValueRow(tr("Do Not Disturb")) { [weak self] in
        if let self { navigator?.push(QuietPage(in: window)) }
    }
    private let server = ValueRow(tr("Server"))
    private let connection = ActionRow("", subtitleLineCountMax: nil)
    private let details = DetailsRow(tr("Technical Details"))
    private let pairButton = Button(tr("Pair With a Server"))
    private let trustButton = Button(tr("Trust This Server…"))
    private let leaveButton = Button(tr("Leave This Server"))

    init(in window: MainWindow) {
        table = PreferencesPage()
        super.init(tr("Settings"), in: window, stack)
        for child in [status, table] { stack.add(child) }
        let notifications = PreferencesGroup(footer: tr("While off, notifications only appear in the list."))
        notifications.add(master.widget)
        let others = PreferencesGroup()
        for row in [quiet.widget, silent.widget, tray.widget] { others.add(row) }
        buildServer()
        for group in [notifications, others, appGroup, serverGroup] { table.add(group) }
        cache.watch(self) { page, topic in
            guard page.isOnScreen else { return }
            switch topic {
            case .apps, .settings(""): page.refresh()
            case .status: page.showServer()
            case .presence: page.refresh()
            case .inbox, .alerts, .settings: break
            }
        }
    }

    private func buildServer() {
        serverGroup.add(server.widget)
        serverGroup.add(connection)
        serverGroup.add(details.widget)
        serverGroup.add(pairButton.styled("touch").padded(above: 10))
        serverGroup.add(trustButton.styled("touch").padded(above: 10))
        serverGroup.add(leaveButton.styled("touch", "destroys-text").padded(above: 10))
        pairButton.onPressed { [weak self] in self?.window.pair() }
        trustButton.onPressed { [weak self] in
            guard let self, let status = cache.status else { return }
            window.pair(.trusting(server: status.serverURL))
        }
        leaveButton.onPressed { [weak self] in self?.leave() }
    }

    private func set(_ name: String, _ isOn: Bool) { window.set(name, to: isOn ? "on" : "off") }

    override func appear() {
        isOnScreen = true
        refresh()
        showServer()
    }

    override func disappear() { isOnScreen = false }

    private func refresh() {
        // The switches are hidden until their current state is known.
        let isKnown = cache.setting("master") != nil
        stack.show(isKnown ? table : status)
        guard isKnown else { return AbsenceText.show(on: status, cache.presence) }
        master.show(cache.setting("master"))
        silent.show(cache.setting("silent"))
        tray.show(cache.setting("tray"))
        if let value = cache.setting("do-not-disturb"), let schedule = cache.setting("schedule") {
            quiet.show(
                QuietText.state(value.value, schedule: schedule.value, now: PanelTime.now),
                isLocked: value.isLocked && schedule.isLocked)
        }
        showApps()
    }

    private func showApps() {
        let apps = cache.apps
        if apps.map(\.appID) != appRows.map(\.id) {
            for row in appRows { appGroup.remove(row.widget) }
            appRows = apps.map { app in AppRow(app) { [weak self] in self?.open(app.appID) } }
            for row in appRows { appGroup.add(row.widget) }
        }
        // The rows stay visible while all notifications are off, but they are disabled.
        let isOn = cache.setting("master")?.value != "off"
        for (row, app) in zip(appRows, apps) { row.show(app, isActive: isOn) }
        appGroup.isVisible = !apps.isEmpty
    }

    private func open(_ appID: String) {
        if let app = cache.app(appID) { window.showSettings(of: app, from: self) }
    }

    // MARK: Server

    private func showServer() {
        guard let status = cache.status else { return }
        let text = ServerText(status)
        server.show(status.isEnrolled ? text.name : tr("Not Paired"))
        connection.isVisible = status.isEnrolled
        connection.setTitle(text.connection(now: PanelTime.now))
        connection.setSubtitle([text.trouble, text.notice].filter { !$0.isEmpty }.joined(separator: "\n"))
        details.show(text.details)
        pairButton.isVisible = !status.isEnrolled
        trustButton.isVisible = status.isEnrolled && !status.isConnected && status.problem == .wrongServer
        leaveButton.isVisible = status.isEnrolled
    }

    /// Scrolls to the connection's state, or to the button that mends it, and moves the focus there.
    func focusServer() {
        serverGroup.onceLaidOut { [weak self] in
            guard let self else { return }
            let target = [pairButton, trustButton].first(where: \.isVisible) ?? connection
            target.focus()
        }
    }

    private func leave() {
        window.offer(SheetPlan(destroy: tr("Leave This Server"))) { [weak self] role in
            if role == .destroy { self?.window.call(.unenrol, [], timeout: AgentProxy.serverCallTimeout) }
        }
    }
}

/// An app's row, with its enabled features, which opens the app's settings.
final class AppRow {
    let id: String
    let widget: ActionRow
    private let unverified = UnverifiedMark()

    init(_ app: AppRecord, pressed: @escaping () -> Void) {
        id = app.appID
        widget = ActionRow(app.appTitle)
        widget.addPrefix(AppIcon.make(app.icon, of: app.appTitle, pixels: 32))
        widget.addSuffix(unverified.widget)
        widget.addSuffix(Symbol("go-next-symbolic").styled("dim-label"))
        widget.onActivated(pressed)
    }

    /// Updates the enabled features.
    func show(_ app: AppRecord, isActive: Bool) {
        widget.setTitle(app.appTitle)
        widget.setSubtitle(AppText.subtitle(app, now: PanelTime.now))
        unverified.show(!app.isVerified, appID: app.appID)
        widget.isSensitive = isActive
    }
}
