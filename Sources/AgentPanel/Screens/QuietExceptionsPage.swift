// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit

/// The apps whose urgent notifications pass Do Not Disturb, with a switch for each app and each kind of urgency.
final class QuietExceptionsPage: Page {
    private let table: PreferencesPage
    private let empty = StatusPage()
    private let stack = Stack()
    private let groups: [(setting: String, group: PreferencesGroup)]
    private var rows: [(appID: String, setting: String, row: SwitchRow)] = []

    init(in window: MainWindow) {
        table = PreferencesPage()
        groups = [
            (
                "time-sensitive",
                PreferencesGroup(
                    tr("Time-Sensitive"), footer: tr("Time-sensitive notifications need attention within minutes."))
            ),
            (
                "critical",
                PreferencesGroup(
                    tr("Critical"), footer: tr("Critical notifications play sounds even if sounds are silenced."))
            ),
        ]
        super.init(tr("Allowed Apps"), in: window, stack)
        for (_, group) in groups { table.add(group) }
        for child in [table, empty] { stack.add(child) }
        empty.show(
            icon: "view-app-grid-symbolic", title: tr("No Apps"),
            description: tr("An app appears here when it registers for notifications."))
        cache.watch(self) { page, topic in
            switch topic {
            case .apps, .settings: page.refresh()
            case .presence, .status, .inbox, .alerts: break
            }
        }
        refresh()
    }

    private func refresh() {
        let apps = cache.apps
        stack.show(apps.isEmpty ? empty : table)
        if apps.map(\.appID) != rows.prefix(apps.count).map(\.appID) { build(apps) }
        for (appID, setting, row) in rows {
            guard let app = cache.app(appID) else { continue }
            row.show(app.quietExceptions.contains(setting), isLocked: app.lockedSettings.contains(setting))
        }
    }

    private func build(_ apps: [AppRecord]) {
        for (_, setting, row) in rows { groups.first { $0.setting == setting }?.group.remove(row.widget) }
        rows = groups.flatMap { setting, group in
            apps.map { app in
                let row = SwitchRow(app.appTitle) { [weak self] isOn in
                    self?.window.set(setting, of: app.appID, to: isOn ? "on" : "off")
                }
                group.add(row.widget)
                return (app.appID, setting, row)
            }
        }
    }
}
