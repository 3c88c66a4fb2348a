// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// The editor of one line of the Do Not Disturb schedule: its days and times.
final class TimesPage: Page {
    private var lines: [QuietTimes]
    private let index: Int
    private var dayRows: [CheckRow] = []
    private lazy var everyDayRow = CheckRow(tr("Every day")) { [weak self] in self?.change { $0.toggleEveryDay() } }
    private var clocks: [NumberEntry] = []
    private let footer = Label("").styled("dim-label", "caption", "footer")

    init(_ index: Int, _ lines: [QuietTimes], in window: MainWindow) {
        self.index = index
        self.lines = lines
        let table = PreferencesPage()
        super.init(tr("Times"), in: window, table)
        for group in [times, days, removal] { table.add(group) }
        showDays()
    }

    private var times: PreferencesGroup {
        let group = PreferencesGroup()
        group.add(clockRow(tr("From"), \.start))
        group.add(clockRow(tr("To"), \.end))
        group.add(footer)
        return group
    }

    private func clockRow(_ title: String, _ path: WritableKeyPath<QuietTimes, Int>) -> Widget {
        let row = ActionRow(title)
        let (hour, minute) = (NumberEntry(0...23, step: 1), NumberEntry(0...59, step: 5))
        (hour.number, minute.number) = lines[index][keyPath: path].quotientAndRemainder(dividingBy: 60)
        let (separator, hourName, minuteName) = (tr(", "), tr("hour"), tr("minute"))
        hour.named(title + separator + hourName)
        minute.named(title + separator + minuteName)
        clocks += [hour, minute]
        for entry in [hour, minute] {
            entry.onChanged { [weak self, weak hour, weak minute] in
                guard let self, let hour, let minute else { return }
                change { $0[keyPath: path] = hour.number * 60 + minute.number }
            }
        }
        // A time is written from left to right in every language.
        row.addSuffix(Box.row(spacing: 4, hour, Label(":"), minute).leftToRight().aligned(down: .center))
        return row
    }

    private var days: PreferencesGroup {
        let group = PreferencesGroup(tr("Days"))
        dayRows = PanelTime.weekdays.enumerated().map { day, name in
            CheckRow(name) { [weak self] in self?.change { $0.toggle(day: day) } }
        }
        for row in [everyDayRow] + dayRows { group.add(row.widget) }
        return group
    }

    private var removal: PreferencesGroup {
        let group = PreferencesGroup()
        let remove = Button(tr("Remove Times")) { [weak self] in self?.remove() }
        group.add(remove.styled("touch", "destroys-text"))
        return group
    }

    private func showDays() {
        for (day, row) in dayRows.enumerated() { row.show(isChosen: lines[index].contains(day: day)) }
        let line = lines[index]
        everyDayRow.show(isChosen: line.isEveryDay)
        footer.setText(
            line.days == 0 || line.start == line.end
                ? tr("These times have no effect. Choose a day, and an end other than the start.")
                : line.end < line.start ? tr("The times end on the next day.") : "")
    }

    private func change(_ body: (inout QuietTimes) -> Void) {
        body(&lines[index])
        showDays()
        window.set("schedule", to: QuietTimes.setting(lines))
    }

    private func remove() {
        lines.remove(at: index)
        window.set("schedule", to: QuietTimes.setting(lines))
        navigator?.pop()
    }
}
