// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// The editor of one line of the Do Not Disturb schedule: its days and times.
final class TimesPage: Page {
    private var lines: [QuietTimes]
    private let index: Int
    /// Whether the line is new, so that it is only saved when the user adds it.
    private let isNew: Bool
    private let addButton = Button(tr("Add"))
    private let footer = Label("").styled("dim-label", "caption", "footer")

    /// Creates an editor of an existing line, which saves each change.
    convenience init(editing index: Int, of lines: [QuietTimes], in window: MainWindow) {
        self.init(index, lines, isNew: false, in: window)
    }

    /// Creates an editor of a new line.
    convenience init(addingTo lines: [QuietTimes], in window: MainWindow) {
        self.init(lines.count, lines + [.everyNight], isNew: true, in: window)
    }

    private init(_ index: Int, _ lines: [QuietTimes], isNew: Bool, in window: MainWindow) {
        self.index = index
        self.lines = lines
        self.isNew = isNew
        let table = PreferencesPage()
        super.init(isNew ? tr("Add Times") : tr("Times"), in: window, table)
        for group in [times, days, actions] { table.add(group) }
        showFooter()
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
        let flow = FlowBox(columnCountMax: 7, spacing: 6)
        for (day, name) in PanelTime.weekdays.enumerated() {
            let button = ToggleButton(PanelTime.shortWeekdays[day]).styled("touch", "day")
            button.named(name)
            button.isOn = lines[index].contains(day: day)
            button.onToggled { [weak self] in self?.change { $0.toggle(day: day) } }
            flow.append(button)
        }
        group.add(flow.named(tr("Days")))
        return group
    }

    private var actions: PreferencesGroup {
        let group = PreferencesGroup()
        if isNew {
            addButton.onPressed { [weak self] in self?.add() }
            group.add(addButton.styled("touch", "suggested-action"))
        } else {
            let remove = Button(tr("Remove Times")) { [weak self] in self?.remove() }
            group.add(remove.styled("touch", "destroys-text"))
        }
        return group
    }

    private func showFooter() {
        let line = lines[index]
        footer.setText(
            !line.isEffective
                ? tr("These times have no effect. Choose at least one day, and an end that differs from the start.")
                : line.end < line.start ? tr("The times end on the next day.") : "")
        addButton.isSensitive = line.isEffective
    }

    private func change(_ body: (inout QuietTimes) -> Void) {
        body(&lines[index])
        showFooter()
        if !isNew { save() }
    }

    private func save() { window.set("schedule", to: QuietTimes.setting(lines)) }

    private func add() {
        save()
        navigator?.pop()
    }

    private func remove() {
        lines.remove(at: index)
        save()
        navigator?.pop()
    }
}
