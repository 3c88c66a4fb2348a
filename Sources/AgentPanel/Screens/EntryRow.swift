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
        /// Allows what the entry offers.
        var allow: (InboxRecord) -> Void
        var expand: (InboxRecord) -> Void
        var clearSection: (NotificationRows.Section) -> Void
        var muteSection: (NotificationRows.Section) -> Void
    }

    /// The state of a row that does not come from the agent.
    struct State {
        /// Whether the row is selected for clearing; nil outside of selection mode.
        var isChecked: Bool?
        /// Whether a notification shows its whole text, or a section its notifications.
        var isExpanded: Bool
        /// Whether the row is the first or the last notification of its section, at which the section's card ends.
        var isFirst = false
        var isLast = false
    }

    let root: Box
    private let actions: Actions
    private let section: SectionHeader
    private let entryPart: Box
    private let check = CheckButton()
    private let dot = Box.column().styled("dot").aligned(down: .center)
    private let suppressed = Symbol("notifications-disabled-symbolic", pixels: 14).styled("dim-label")
    private let reminder = Symbol("alarm-symbolic", pixels: 14).styled("dim-label")
    private let headline = Label("", .cut(lines: 1))
    private let detail = Label("", .cut(lines: 1)).styled("dim-label")
    private let picture = Bin()
    private var shownPicture = ""
    private static let picturePixelsMax = 240
    private let reason = Label("").styled("dim-label", "caption")
    private let offer = Button(tr("Allow Time-Sensitive Notifications")).styled("flat", "offer").aligned(across: .start)
    private let time = Label("", .cut(lines: 1)).styled("dim-label", "caption").aligned(down: .start)
    private let expandButton: Button
    private let details: Button
    private let clearPlace: Revealer
    private(set) var row: NotificationRows.Row?
    private var isExpanded = false
    /// The buttons in the row, in Tab order.
    private(set) var controls: [Widget] = []

    init(_ actions: Actions) {
        self.actions = actions
        section = SectionHeader()
        let clear = Button(tr("Clear")).styled("clear-button")
        clearPlace = Revealer(clear.aligned(down: .center), from: .end)
        expandButton = Button(icon: "pan-down-symbolic", named: tr("Show All Text")) {}
        details = Button(icon: "help-about-symbolic", named: tr("Details")) {}
        let first = Box.row(spacing: 6, dot, suppressed, reminder, headline.expanding(across: true), time)
        let texts = Box.column(spacing: 2, first, detail, picture, reason, offer).aligned(down: .center).expanding(
            across: true)
        let buttons = Box.row(
            expandButton.styled("flat", "circular").aligned(down: .center),
            details.styled("flat", "circular").aligned(down: .center), clearPlace)
        entryPart = Box.row(spacing: 10, check, texts, buttons)
        root = Box.column(section.widget, entryPart.styled("entry-row"))
        check.setReachable(false)
        dot.unread()
        listen(clear)
    }

    private func listen(_ clear: Button) {
        details.onPressed { [weak self] in self?.withEntry { $0.actions.showDetails($1) } }
        expandButton.onPressed { [weak self] in self?.withEntry { $0.actions.expand($1) } }
        clear.onPressed { [weak self] in self?.withEntry { $0.actions.clear($1) } }
        offer.onPressed { [weak self] in self?.withEntry { $0.actions.allow($1) } }
        section.clear.onPressed { [weak self] in
            if case .section(let section)? = self?.row { self?.actions.clearSection(section) }
        }
        section.mute.onPressed { [weak self] in
            if case .section(let section)? = self?.row { self?.actions.muteSection(section) }
        }
        controls = [offer, expandButton, details, section.mute, section.clear, clear]
        // The Clear button is at the right in left-to-right languages, so a swipe to the left reveals it.
        entryPart.onStroke(atLeast: 60) { [weak self] across in self?.clearPlace.isRevealed = across < 0 }
    }

    private func withEntry(_ body: (EntryRow, InboxRecord) -> Void) {
        if let entry { body(self, entry) }
    }

    /// The notification in the row; nil for a section header.
    var entry: InboxRecord? {
        if case .entry(let entry)? = row { entry } else { nil }
    }

    /// The app ID of a section header; nil for a notification.
    var sectionAppID: String? {
        if case .section(let section)? = row { section.appID } else { nil }
    }

    /// Adapts the layout to the width of the window.
    func fit(isCrowded: Bool) { section.fit(isCrowded: isCrowded) }

    /// Shows other content; the caller sets a section's icon separately.
    func show(_ row: NotificationRows.Row, now: Timestamp, _ state: State) {
        if row.key != self.row?.key { clearPlace.isRevealed = false }
        self.row = row
        switch row {
        case .section(let section):
            self.section.show(section, isExpanded: state.isExpanded)
        case .entry(let entry): show(entry, now, isExpanded: state.isExpanded)
        }
        entryPart.setStyle("first", state.isFirst)
        entryPart.setStyle("last", state.isLast)
        entryPart.setStyle("expanded", state.isExpanded)
        section.widget.isVisible = entry == nil
        entryPart.isVisible = entry != nil
        show(isChecked: state.isChecked)
    }

    /// Shows whether the row is selected for clearing; nil outside of selection mode.
    func show(isChecked: Bool?) {
        check.isVisible = isChecked != nil
        check.isChecked = isChecked ?? false
        root.parent?.setSelected(isChecked ?? false)
        details.isVisible = isChecked == nil
        expandButton.isVisible = isChecked == nil && (entry.map(Self.isExpandable) ?? false)
        section.clear.isVisible = isChecked == nil
        offer.isVisible = isChecked == nil && entry?.offersTimeSensitive == true
    }

    /// Shows the icon and the mute of the app in a section header; nil while the app is unknown.
    func show(_ app: AppRecord?) {
        guard case .section(let section)? = row else { return }
        self.section.show(icon: app?.icon ?? "", of: section.name)
        self.section.show(mute: app.flatMap { MuteText.state($0, now: PanelTime.now) }, of: section.name)
    }

    private func show(_ entry: InboxRecord, _ now: Timestamp, isExpanded: Bool) {
        self.isExpanded = isExpanded
        let text = EntryText(entry)
        headline.setText(isExpanded ? text.title : text.headline)
        headline.setStyle("unread-title", !entry.isRead)
        detail.setText(isExpanded ? text.body : text.detail)
        detail.isVisible = isExpanded ? !text.body.isEmpty : !text.detail.isEmpty
        for label in [headline, detail] { label.setFit(isExpanded ? .wrapped : .cut(lines: 1)) }
        show(picture: isExpanded ? entry.picture : "")
        let reasons = (entry.reasonNotShown == nil ? [] : [text.outcome]) + IgnoredText(entry.ignored).sentences
        reason.setText(reasons.joined(separator: "\n"))
        reason.isVisible = isExpanded && !reasons.isEmpty
        suppressed.isVisible = entry.reasonNotShown != nil
        suppressed.hinted(text.outcome).named(text.outcome)
        let reminderText = LaterText.reminder(entry.remindAt, now: now)
        reminder.isVisible = !reminderText.isEmpty
        reminder.hinted(reminderText).named(reminderText)
        time.setText(PanelTime.short(entry.receivedAt, now: now))
        dot.isVisible = !entry.isRead
        details.described(text.headline)
        let title = isExpanded ? tr("Show Less Text") : tr("Show All Text")
        expandButton.setIcon(isExpanded ? "pan-up-symbolic" : "pan-down-symbolic", named: title)
        expandButton.described(text.headline)
        expandButton.setExpanded(isExpanded)
    }

    /// Shows the picture of an expanded notification; an empty path shows none.
    private func show(picture path: String) {
        // The same picture is not loaded again, because that would make it flicker.
        guard path != shownPicture else { return }
        shownPicture = path
        picture.isVisible = !path.isEmpty
        picture.setContent(path.isEmpty ? nil : EntryPicture.make(path, pixelsMax: Self.picturePixelsMax))
    }

    /// Hides the Clear button that a swipe revealed.
    func hideClear() { clearPlace.isRevealed = false }

    /// Returns whether a notification has more text than its row.
    static func isExpandable(_ entry: InboxRecord) -> Bool {
        !VisibleText.lines(entry.body).isEmpty || entry.reasonNotShown != nil || !entry.picture.isEmpty
            || !IgnoredText(entry.ignored).sentences.isEmpty
    }

    /// Returns the accessible name of a row.
    static func name(of row: NotificationRows.Row, now: Timestamp) -> String {
        switch row {
        case .section(let section): return SectionHeader.name(of: section)
        case .entry(let entry):
            let text = EntryText(entry)
            let parts = [
                entry.isRead ? "" : tr("Unread"), entry.appTitle, entry.isUnverified ? UnverifiedMark.text : "",
                text.headline, text.detail,
                PanelTime.short(entry.receivedAt, now: now),
                entry.reasonNotShown == nil ? "" : text.outcome, LaterText.reminder(entry.remindAt, now: now),
            ]
            return parts.filter { !$0.isEmpty }.joined(separator: tr(", "))
        }
    }
}
