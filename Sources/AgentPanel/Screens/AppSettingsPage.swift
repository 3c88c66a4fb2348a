// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit
internal import PushAPI
internal import PushDBus

/// The settings page of one app.
final class AppSettingsPage: Page {
    private let appID: String
    private let offersTimeSensitive: Bool
    private lazy var badge = toggle("badge", tr("Badges"))
    private lazy var sound = toggle("sound", tr("Sounds"))
    private lazy var soundName = ValueRow(tr("Sound")) { [weak self] in self?.chooseSound() }
    private lazy var alert = toggle("alert", tr("Alerts"))
    private lazy var style = ValueRow(tr("Alert Style")) { [weak self] in self?.chooseStyle() }
    private lazy var muted = ValueRow(tr("Mute")) { [weak self] in
        guard let self else { return }
        window.offerMute(of: appID, title)
    }
    private lazy var pictures = toggle("pictures", tr("Pictures"))
    private lazy var preview = toggle("preview", tr("Show Texts While Locked"))
    private lazy var timeSensitive = toggle("time-sensitive", tr("Time-Sensitive"))
    private lazy var critical = toggle("critical", tr("Critical"))
    private let eventGroup = PreferencesGroup(tr("Kinds of Notifications"))
    private var eventRows: [(id: String, row: ValueRow)] = []

    init(_ app: AppRecord, in window: MainWindow) {
        appID = app.appID
        offersTimeSensitive = app.offers.contains("time-sensitive")
        let table = PreferencesPage()
        super.init(app.appTitle, in: window, table)
        for group in [origin(of: app), allowed, pictureGroup(of: app), locked, urgent, eventGroup, removal(app)] {
            table.add(group)
        }
        buildEvents(app)
        cache.watch(self) { page, topic in
            if topic == .settings(page.appID) { page.refresh() }
        }
        cache.ask(.settings(appID))
        refresh()
    }

    private func toggle(_ name: String, _ title: String) -> SwitchRow {
        SwitchRow(title) { [weak self] isOn in
            guard let self else { return }
            window.set(name, of: appID, to: isOn ? "on" : "off")
        }
    }

    /// The warning about a name that the app gave itself; empty for other apps.
    private func origin(of app: AppRecord) -> PreferencesGroup {
        let group = PreferencesGroup()
        group.isVisible = !app.isVerified
        guard !app.isVerified else { return group }
        let row = ActionRow(
            Texts.fill(tr("The name “%1” is unverified"), app.appTitle),
            subtitle: UnverifiedMark.explanation(app.appID),
            subtitleLineCountMax: nil)
        row.addPrefix(Symbol("dialog-warning-symbolic"))
        group.add(row)
        return group
    }

    private var allowed: PreferencesGroup {
        let group = PreferencesGroup()
        for row in [badge.widget, sound.widget, soundName.widget, alert.widget, style.widget, muted.widget] {
            group.add(row)
        }
        return group
    }

    /// The switch for pictures; empty for an app whose notifications have none.
    private func pictureGroup(of app: AppRecord) -> PreferencesGroup {
        let group = PreferencesGroup(footer: tr("The server of a picture learns the address of this computer."))
        group.isVisible = app.canHavePictures
        group.add(pictures.widget)
        return group
    }

    private var locked: PreferencesGroup {
        let group = PreferencesGroup(footer: tr("If on, anyone can read the texts on the lock screen."))
        group.add(preview.widget)
        return group
    }

    private var urgent: PreferencesGroup {
        let group = PreferencesGroup(
            tr("During Do Not Disturb"),
            footer: offersTimeSensitive
                ? tr("A time-sensitive notification of this app was not shown. You can allow such notifications here.")
                : tr("Critical notifications play sounds even if sounds are silenced."))
        for row in [timeSensitive.widget, critical.widget] { group.add(row) }
        return group
    }

    private func buildEvents(_ app: AppRecord) {
        for type in app.eventTypes {
            let row = ValueRow(type.name, isBelow: true) { [weak self] in
                guard let self else { return }
                navigator?.push(EventPage(type, of: appID, in: window))
            }
            eventRows.append((type.id, row))
            eventGroup.add(row.widget)
        }
        eventGroup.isVisible = !app.eventTypes.isEmpty
    }

    private func removal(_ app: AppRecord) -> PreferencesGroup {
        let group = PreferencesGroup()
        let off = Button(tr("Turn Off All")) { [weak self] in self?.turnOffAll() }
        let remove = Button(tr("Remove App")) { [weak self] in self?.remove(app) }
        group.add(off.styled("touch", "destroys-text"))
        group.add(remove.styled("touch", "destroys-text").padded(above: 10))
        return group
    }

    // MARK: Display

    private func refresh() {
        for (row, name) in [
            (badge, "badge"), (sound, "sound"), (pictures, "pictures"), (preview, "preview"),
            (timeSensitive, "time-sensitive"), (critical, "critical"),
        ] { row.show(setting(name)) }
        if let sound = setting("sound"), let name = setting("sound-name") {
            soundName.widget.isVisible = sound.value == "on"
            soundName.show(SoundText.title(name.value), isLocked: name.isLocked)
        }
        if let alert = setting("alert") {
            let isOn = alert.value != AlertStyle.none.rawValue
            self.alert.show(isOn, isLocked: alert.isLocked)
            style.widget.isVisible = isOn
            style.show(AppText.style(alert.value), isLocked: alert.isLocked)
        }
        if let muted = setting("muted") {
            self.muted.show(MuteText.state(muted.value, now: PanelTime.now), isLocked: muted.isLocked)
        }
        for (id, row) in eventRows {
            func isOn(_ name: String) -> Bool { cache.setting(name, of: appID, event: id)?.value != "off" }
            row.show(AppText.subtitle(badge: isOn("badge"), sound: isOn("sound"), alert: isOn("alert")))
        }
    }

    private func setting(_ name: String) -> SettingRecord? { cache.setting(name, of: appID) }

    // MARK: Actions

    private func chooseSound() { navigator?.push(SoundPage(of: appID, in: window)) }

    private func chooseStyle() {
        let choices = [AlertStyle.banner, .alert].map { style in
            ChoicePage.Choice(
                value: style.rawValue, title: AppText.style(style.rawValue),
                subtitle: style == .banner ? tr("Disappear automatically") : tr("Stay until you answer them"))
        }
        let page = ChoicePage(tr("Alert Style"), choices, in: window) { [weak self] value in
            guard let self else { return }
            window.set("alert", of: appID, to: value)
        }
        page.follow(.settings(appID)) { [weak self] in self?.setting("alert")?.value }
        navigator?.push(page)
    }

    private func turnOffAll() {
        window.offer(SheetPlan(destroy: Texts.fill(tr("Turn Off All for %1"), title))) { [weak self] role in
            guard let self, role == .destroy else { return }
            for name in ["badge", "sound", "alert"] { window.set(name, of: appID, to: "off") }
        }
    }

    private func remove(_ app: AppRecord) {
        window.offer(SheetPlan(destroy: Texts.fill(tr("Remove %1"), app.appTitle))) { [weak self] role in
            guard let self, role == .destroy else { return }
            window.call(
                .unregister, [.text(appID)], timeout: AgentProxy.serverCallTimeout,
                onSuccess: { [weak self] _ in
                    self?.navigator?.popAll()
                })
        }
    }
}
