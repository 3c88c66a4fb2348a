// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit
internal import PushCore

/// A row of the notification list: a section header or a notification.
///
/// Rows are recycled: each is created once and shows different content over time.
final class EntryRow {
    /// The actions of a row besides the click on the row itself.
    struct Actions {
        var showDetails: (InboxRecord) -> Void
        var clear: (InboxRecord) -> Void
        var clearSection: (NotificationRows.Section) -> Void
    }

    let root: Box
    private let actions: Actions
    private let sectionPart: Box
    private let sectionIcon = Bin()
    private let sectionName = Label("", .cut(lines: 1)).styled("heading")
    private let sectionCount = Label("", .cut(lines: 1)).styled("dim-label", "caption")
    private let sectionClear = Bin()
    private let entryPart: Box
    private let check = CheckButton()
    private let icon = Bin()
    private let dot = Box.column().styled("dot").aligned(down: .center)
    private let suppressed = Symbol("notifications-disabled-symbolic", pixels: 14).styled("dim-label")
    private let headline = Label("", .cut(lines: 1))
    private let detail = Label("", .cut(lines: 1)).styled("dim-label")
    private let time = Label("", .cut(lines: 1)).styled("dim-label", "caption")
    private let details = Bin()
    private let clearPlace: Revealer
    private(set) var row: NotificationRows.Row?
    private var shownIcon: [String] = []
    /// The buttons in the row.
    private(set) var controls: [Widget] = []

    init(_ actions: Actions) {
        self.actions = actions
        let clear = Button(tr("Clear")).styled("clear-button")
        clearPlace = Revealer(clear.aligned(down: .center), from: .end)
        sectionPart = Box.row(
            spacing: 10, sectionIcon, sectionName, sectionCount.expanding(across: true), sectionClear)
        let first = Box.row(spacing: 6, dot, suppressed, headline.expanding(across: true), time)
        let texts = Box.column(spacing: 2, first, detail).aligned(down: .center).expanding(across: true)
        entryPart = Box.row(spacing: 10, check, icon, texts, Box.row(details, clearPlace))
        root = Box.column(sectionPart.styled("section-row"), entryPart.styled("entry-row"))
        check.setReachable(false)
        dot.unread()
        listen(clear)
    }

    private func listen(_ clear: Button) {
        let info = Button(icon: "help-about-symbolic", named: tr("Details")) { [weak self] in
            if let entry = self?.entry, let self { actions.showDetails(entry) }
        }
        details.setContent(info.styled("flat", "circular").aligned(down: .center))
        let clearSection = Button(tr("Clear")) { [weak self] in
            if case .section(let section)? = self?.row { self?.actions.clearSection(section) }
        }
        sectionClear.setContent(clearSection.styled("flat", "touch", "section-clear"))
        controls = [info, clearSection, clear]
        clear.onPressed { [weak self] in
            if let entry = self?.entry, let self { actions.clear(entry) }
        }
        // The Clear button is at the right in left-to-right languages, so a swipe to the left reveals it.
        entryPart.onStroke(atLeast: 60) { [weak self] across in self?.clearPlace.isRevealed = across < 0 }
    }

    /// The notification in the row; nil for a section header.
    var entry: InboxRecord? {
        if case .entry(let entry)? = row { entry } else { nil }
    }

    /// The app ID of the row; empty for a row without an app.
    var appID: String {
        switch row {
        case .section(let section)?: section.appID
        case .entry(let entry)?: entry.appID
        case nil: ""
        }
    }

    /// Shows other content; the caller sets the icon separately.
    func show(_ row: NotificationRows.Row, now: Timestamp, isChecked: Bool?) {
        if row.key != self.row?.key { clearPlace.isRevealed = false }
        self.row = row
        switch row {
        case .section(let section): show(section)
        case .entry(let entry): show(entry, now)
        }
        show(isChecked: isChecked)
    }

    /// Shows whether the row is selected for clearing; nil outside of selection mode.
    func show(isChecked: Bool?) {
        check.isVisible = isChecked != nil
        check.isChecked = isChecked ?? false
        root.parent?.setSelected(isChecked ?? false)
        details.isVisible = isChecked == nil
        sectionClear.isVisible = isChecked == nil
    }

    /// Shows the app's icon from a theme name or a path.
    func show(icon: String) {
        let (name, isSection) = (row.map(Self.appName(of:)) ?? "", entry == nil)
        // The same icon is not loaded again, because that would make it flicker.
        guard shownIcon != [icon, name, "\(isSection)"] else { return }
        shownIcon = [icon, name, "\(isSection)"]
        switch row {
        case .section(let section)?: sectionIcon.setContent(AppIcon.make(icon, of: section.name, pixels: 24))
        case .entry(let entry)?:
            self.icon.setContent(AppIcon.make(icon, of: entry.appTitle, pixels: 32).aligned(down: .center))
        case nil: break
        }
    }

    private func show(_ section: NotificationRows.Section) {
        sectionPart.isVisible = true
        entryPart.isVisible = false
        sectionName.setText(section.name)
        sectionCount.setText(Self.news(of: section))
        sectionClear.firstChild?.named(Texts.fill(tr("Clear all of %1"), section.name))
    }

    private func show(_ entry: InboxRecord, _ now: Timestamp) {
        sectionPart.isVisible = false
        entryPart.isVisible = true
        let text = EntryText(entry)
        headline.setText(text.headline)
        headline.setStyle("unread-title", !entry.isRead)
        let reason = entry.reasonNotShown.map(ReasonText.sentence) ?? ""
        detail.setText(reason.isEmpty ? text.detail : reason)
        detail.isVisible = !reason.isEmpty || !text.detail.isEmpty
        suppressed.isVisible = entry.reasonNotShown != nil
        time.setText(PanelTime.short(entry.receivedAt, now: now))
        dot.isVisible = !entry.isRead
        details.firstChild?.described(text.headline)
    }

    private static func news(of section: NotificationRows.Section) -> String {
        section.unreadCount > 0 ? Texts.fill(tr("%1 unread"), "\(section.unreadCount)") : ""
    }

    /// Hides the Clear button that a swipe revealed.
    func hideClear() { clearPlace.isRevealed = false }

    private static func appName(of row: NotificationRows.Row) -> String {
        switch row {
        case .section(let section): section.name
        case .entry(let entry): entry.appTitle
        }
    }

    /// Returns the accessible name of a row.
    static func name(of row: NotificationRows.Row, now: Timestamp) -> String {
        switch row {
        case .section(let section):
            return [section.name, news(of: section)].filter { !$0.isEmpty }.joined(separator: tr(", "))
        case .entry(let entry):
            let text = EntryText(entry)
            let parts = [
                entry.isRead ? "" : tr("Unread"), entry.appTitle, text.headline, text.detail,
                PanelTime.short(entry.receivedAt, now: now),
                entry.reasonNotShown == nil ? "" : text.outcome,
            ]
            return parts.filter { !$0.isEmpty }.joined(separator: tr(", "))
        }
    }
}
