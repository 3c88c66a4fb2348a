// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit

/// The settings of Do Not Disturb: the switch and the weekly schedule.
final class QuietPage: Page {
    private let table: PreferencesPage
    private let scheduleGroup = PreferencesGroup(
        tr("Every Week"),
        footer: tr("There are no alerts or sounds at these times. Badges and the list are still updated."))
    private lazy var toggle = SwitchRow(tr("Do Not Disturb")) { [weak self] isOn in
        self?.window.set("do-not-disturb", to: isOn ? "on" : "off")
    }
    private lazy var ending = ValueRow(tr("Ends")) { [weak self] in self?.chooseEnd() }
    private lazy var exceptions = ValueRow(tr("Allowed Apps")) { [weak self] in
        if let self { navigator?.push(QuietExceptionsPage(in: window)) }
    }
    private var timeRows: [ValueRow] = []
    private lazy var addRow = ActionRow(tr("Add Times"))
    private var shownSchedule: String?

    init(in window: MainWindow) {
        table = PreferencesPage()
        super.init(tr("Do Not Disturb"), in: window, table)
        let now = PreferencesGroup()
        for row in [toggle.widget, ending.widget] { now.add(row) }
        addRow.addPrefix(Symbol("list-add-symbolic"))
        addRow.onActivated { [weak self] in self?.addTimes() }
        table.add(now)
        table.add(scheduleGroup)
        let allowed = PreferencesGroup(
            footer: tr("Time-sensitive or critical notifications of these apps are still shown."))
        allowed.add(exceptions.widget)
        table.add(allowed)
        cache.watch(self) { page, topic in
            if topic == .settings("") || topic == .apps { page.refresh() }
        }
        refresh()
    }

    override func appear() { refresh() }

    private func refresh() {
        let now = PanelTime.now
        if let value = cache.setting("do-not-disturb") {
            let isOn = QuietText.isOn(value.value, now: now)
            toggle.show(isOn, isLocked: value.isLocked)
            ending.widget.isVisible = isOn
            ending.show(
                QuietText.end(value.value, now: now) ?? QuietText.Choice.whenTurnedOff.title,
                isLocked: value.isLocked)
        }
        let count = cache.apps.filter { !$0.quietExceptions.isEmpty }.count
        exceptions.show(count == 0 ? tr("None") : "\(count)")
        showSchedule()
    }

    private var lines: [QuietTimes] { QuietTimes.all(of: cache.setting("schedule")?.value ?? "none") }

    private func showSchedule() {
        guard let schedule = cache.setting("schedule") else { return }
        let sign = "\(schedule.isLocked) \(schedule.value)"
        guard sign != shownSchedule else { return }
        for row in timeRows { scheduleGroup.remove(row.widget) }
        if shownSchedule != nil { scheduleGroup.remove(addRow) }
        shownSchedule = sign
        timeRows = lines.enumerated().map { index, times in
            let row = ValueRow(times.daysText) { [weak self] in self?.edit(index) }
            row.show(times.timesText, isLocked: schedule.isLocked)
            return row
        }
        for row in timeRows { scheduleGroup.add(row.widget) }
        scheduleGroup.add(addRow)
        addRow.isVisible = !schedule.isLocked
    }

    private func chooseEnd() {
        let choices = QuietText.Choice.allCases
        let page = ChoicePage(
            tr("Ends"), choices.enumerated().map { ChoicePage.Choice(value: "\($0.offset)", title: $0.element.title) },
            in: window
        ) { [weak self] value in
            guard let index = Int(value), choices.indices.contains(index) else { return }
            self?.window.set("do-not-disturb", to: choices[index].value(now: PanelTime.now))
        }
        let value = { [weak self] in self?.cache.setting("do-not-disturb")?.value ?? "" }
        page.follow(
            .settings(""),
            other: {
                let value = value()
                return QuietText.otherEnd(value, now: PanelTime.now).map { .init(value: value, title: $0) }
            }
        ) {
            let value = value()
            guard let chosen = QuietText.Choice.of(value, now: PanelTime.now) else { return value }
            return choices.firstIndex(of: chosen).map { "\($0)" }
        }
        navigator?.push(page)
    }

    private func edit(_ index: Int) {
        let lines = lines
        guard lines.indices.contains(index) else { return }
        navigator?.push(TimesPage(editing: index, of: lines, in: window))
    }

    /// Opens a new line of the schedule, which the user then adds.
    private func addTimes() { navigator?.push(TimesPage(addingTo: lines, in: window)) }
}
