// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit

/// The settings of one event type, which apply within the settings of the app.
final class EventPage: Page {
    private let appID: String
    private let event: String
    private var rows: [(name: String, row: SwitchRow)] = []

    init(_ type: EventTypeRecord, of appID: String, in window: MainWindow) {
        self.appID = appID
        event = type.id
        let table = PreferencesPage()
        super.init(type.name, in: window, table)
        let group = PreferencesGroup(footer: tr("A switch here has no effect if the same switch of the app is off."))
        for (name, title) in [("badge", tr("Badges")), ("sound", tr("Sounds")), ("alert", tr("Alerts"))] {
            let row = SwitchRow(title) { [weak self] isOn in
                guard let self else { return }
                self.window.set(name, of: self.appID, event: event, to: isOn ? "on" : "off")
            }
            rows.append((name, row))
            group.add(row.widget)
        }
        table.add(group)
        cache.watch(self) { page, topic in
            if topic == .settings(page.appID) { page.refresh() }
        }
        refresh()
    }

    private func refresh() {
        for (name, row) in rows { row.show(cache.setting(name, of: appID, event: event)) }
    }
}
