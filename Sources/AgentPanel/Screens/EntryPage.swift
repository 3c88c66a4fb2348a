// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit
internal import PushAPI
internal import PushCore
internal import PushDBus

/// The details of one notification, with its delivery result.
final class EntryPage: Page {
    private static let picturePixelsMax = 320
    private let entry: InboxRecord
    private let clear: () -> Void
    private let details = DetailsRow(tr("Technical Details"))
    private let viewButton = Button(tr("View"))
    private var remindAt: Timestamp?
    private lazy var remindRow = ValueRow(tr("Remind Me")) { [weak self] in self?.remind() }

    /// Creates the page of an entry; `clear` is called before the page closes if the user clears the entry.
    init(_ entry: InboxRecord, in window: MainWindow, clear: @escaping () -> Void) {
        self.entry = entry
        remindAt = entry.remindAt
        self.clear = clear
        let table = PreferencesPage()
        super.init(tr("Details"), in: window, table)
        for group in [texts, viewGroup, facts, settingsGroup, clearGroup] { table.add(group) }
        if !entry.isRead { window.call(.markRead, [.int64(entry.entry), .string("")]) }
    }

    override func focus() { viewButton.focus() }

    /// Offers the times of a reminder; a reminder that exists can be canceled.
    private func remind() {
        let choices = LaterChoice.inOrder(after: PanelTime.now)
        let plan = SheetPlan(
            destroy: remindAt == nil ? nil : tr("Cancel Reminder"), choices: choices.map(\.title))
        window.offer(plan) { [weak self] role in
            switch role {
            case .cancel: break
            case .destroy: self?.setReminder(nil)
            case .choose(let index): self?.setReminder(choices[index].time(after: PanelTime.now))
            }
        }
    }

    private func setReminder(_ time: Timestamp?) {
        window.call(.remindEntry, [.int64(entry.entry), .int64(time?.unixSeconds ?? 0)]) { [weak self] _ in
            self?.remindAt = time
            self?.remindRow.show(time.map { PanelTime.moment($0, now: PanelTime.now) } ?? tr("Off"))
        }
    }

    private var texts: PreferencesGroup {
        let group = PreferencesGroup()
        let icon = cache.app(entry.appID)?.icon ?? ""
        let head = Box.row(
            spacing: 10, AppIcon.make(icon, of: entry.appTitle, pixels: 40),
            Label(entry.appTitle, .cut(lines: 1)).styled("heading"))
        let unverified = UnverifiedMark()
        unverified.show(entry.isUnverified, appID: entry.appID)
        head.append(unverified.widget)
        group.add(head.padded(below: 10))
        let (title, body) = (VisibleText.line(entry.title), VisibleText.lines(entry.body))
        for (text, style) in [(title, "title-4"), (body, "body")] where !text.isEmpty {
            group.add(Label(text).selectable().styled(style).padded(below: 4))
        }
        if !entry.picture.isEmpty {
            group.add(EntryPicture.make(entry.picture, pixelsMax: Self.picturePixelsMax).padded(above: 6))
        }
        return group
    }

    /// The details, each with a small colored name at the left and the value after it.
    private var facts: PreferencesGroup {
        let group = PreferencesGroup()
        group.add(fact(tr("Received"), PanelTime.long(entry.receivedAt)))
        group.add(fact(tr("Outcome"), EntryText(entry).outcome))
        if !entry.url.isEmpty { group.add(fact(tr("Link"), VisibleText.line(entry.url))) }
        let effects = entry.effects.map(ReasonText.effect)
        if !effects.isEmpty { group.add(fact(tr("Delivered As"), effects.joined(separator: "\n"))) }
        let ignored = IgnoredText(entry.ignored)
        if !ignored.sentences.isEmpty { group.add(fact(tr("Left Out"), ignored.sentences.joined(separator: "\n"))) }
        details.show(ignored.details)
        group.add(details.widget)
        return group
    }

    private func fact(_ name: String, _ value: String) -> Widget {
        let box = Box.row(
            spacing: window.shape.isNarrow ? 2 : 12,
            Label(name).styled("value-name").sized(width: Int(84 * Desktop.textScale)),
            Label(value).selectable().expanding(across: true))
        box.turn(isRow: !window.shape.isNarrow)
        let row = PlainRow(box.padded(across: 12, above: 12, below: 12))
        return row.named("\(name)\(tr(", "))\(value)")
    }

    private var viewGroup: PreferencesGroup {
        let group = PreferencesGroup()
        viewButton.onPressed { [weak self] in
            guard let self else { return }
            window.call(.openEntry, [.int64(entry.entry), .text(Desktop.activationToken(shownAs: MainWindow.title))])
        }
        group.add(viewButton.styled("touch", "suggested-action"))
        return group
    }

    private var settingsGroup: PreferencesGroup {
        let group = PreferencesGroup()
        remindRow.show(entry.remindAt.map { PanelTime.moment($0, now: PanelTime.now) } ?? tr("Off"))
        group.add(remindRow.widget)
        guard let app = cache.app(entry.appID) else { return group }
        let row = ValueRow(tr("Notification Settings")) { [weak self] in
            if let self { window.showSettings(of: app, from: self) }
        }
        row.show("")
        group.add(row.widget)
        return group
    }

    private var clearGroup: PreferencesGroup {
        let group = PreferencesGroup()
        let button = Button(tr("Clear")) { [weak self] in
            guard let self else { return }
            clear()
            navigator?.pop()
        }
        group.add(button.styled("touch", "destroys-text"))
        return group
    }
}
