// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit
internal import PushDBus

/// A list of choices with a checkmark; a click takes effect immediately.
class ChoicePage: Page {
    struct Choice: Equatable {
        var value: String
        var title: String
        var subtitle = ""
    }

    private let table: PreferencesPage
    private var group: PreferencesGroup?
    private var rows: [(value: String, row: CheckRow)] = []
    /// A current value that is not among the choices; its row is last and exists while the value is current.
    private var other: Choice?
    private let onChosen: (String) -> Void
    private let footer: String
    private var chosen: String?

    init(
        _ title: String, _ choices: [Choice], footer: String = "", in window: MainWindow,
        onChosen: @escaping (String) -> Void
    ) {
        table = PreferencesPage()
        self.footer = footer
        self.onChosen = onChosen
        super.init(title, in: window, table)
        show(choices)
    }

    /// Replaces the choices.
    func show(_ choices: [Choice]) {
        if let group { table.remove(group) }
        let group = PreferencesGroup(footer: footer)
        self.group = group
        rows = []
        for choice in choices + [other].compactMap({ $0 }) { add(choice) }
        table.add(group)
        show(chosen: chosen)
    }

    private func add(_ choice: Choice) {
        let row = CheckRow(choice.title) { [weak self] in
            self?.show(chosen: choice.value)
            self?.onChosen(choice.value)
        }
        row.widget.setSubtitle(choice.subtitle)
        group?.add(row.widget)
        rows.append((choice.value, row))
    }

    /// Marks the current value, and marks it again after each change.
    ///
    /// - Parameters:
    ///   - topic: The part of the state whose changes are watched.
    ///   - other: Returns the current value as a choice if it is not among the choices; nil otherwise.
    ///   - value: Returns the current value.
    func follow(
        _ topic: AgentStateCache.Topic, other: @escaping () -> Choice? = { nil }, _ value: @escaping () -> String?
    ) {
        show(other: other())
        show(chosen: value())
        cache.watch(self) { page, changed in
            guard changed == topic else { return }
            page.show(other: other())
            page.show(chosen: value())
        }
    }

    private func show(other choice: Choice?) {
        guard choice != other else { return }
        if other != nil, let last = rows.popLast() { group?.remove(last.row.widget) }
        other = choice
        if let choice { add(choice) }
    }

    /// Moves the checkmark to a choice.
    func show(chosen value: String?) {
        chosen = value
        for (other, row) in rows { row.show(isChosen: other == value) }
    }
}

/// The choice of an app's sound; a click also plays the sound.
final class SoundPage: ChoicePage {
    private let appID: String

    init(of appID: String, in window: MainWindow) {
        self.appID = appID
        super.init(
            tr("Sound"), Self.choices([]),
            footer: tr("“As Sent” plays the sound that each notification specifies."), in: window
        ) { [weak window] value in
            guard let window else { return }
            window.set("sound-name", of: appID, to: value)
            if value != "none" { window.play(value == "as-sent" ? "" : value, of: appID) }
        }
        follow(.settings(appID)) { [weak window] in window?.cache.setting("sound-name", of: appID)?.value }
        window.call(
            .listSounds, [.text(appID)],
            onSuccess: { [weak self] values in
                self?.show(Self.choices((values.first?.arrayValue ?? []).map(SoundRecord.init)))
            })
    }

    private static func choices(_ sounds: [SoundRecord]) -> [Choice] {
        SoundText.choices(sounds).map { Choice(value: $0.value, title: $0.title) }
    }
}
