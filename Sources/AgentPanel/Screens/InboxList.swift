// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit

/// The list of notifications, in sections that the user can collapse, with rows that the user can expand.
final class InboxList {
    /// The maximum width in pixels at the normal text size.
    static let widthMax = 680

    /// The content of the list.
    struct Content {
        /// The entries that match the search and the filter, newest first.
        var entries: [InboxRecord] = []
        var filter = InboxFilter.all
        /// The number of unread notifications in the whole inbox, by app ID.
        var unreadCounts: [String: Int] = [:]
        /// Whether a search is in progress, in which no section is collapsed.
        var isSearching = false
    }

    /// The functions that the list calls.
    struct Actions {
        var view: (InboxRecord) -> Void
        var showDetails: (InboxRecord) -> Void
        var clear: (InboxRecord) -> Void
        /// Allows what an entry offers.
        var allow: (InboxRecord) -> Void
        /// Clears all notifications of an app.
        var clearSection: (NotificationRows.Section) -> Void
        /// Offers to mute an app.
        var muteSection: (NotificationRows.Section) -> Void
        /// Returns an app; nil while it is unknown.
        var app: (String) -> AppRecord?
        /// Called after a change of the selection.
        var chosenChanged: () -> Void
        /// Called after a change of what is on the screen.
        var viewportChanged: () -> Void
    }

    private let actions: Actions
    private lazy var list = makeList()
    private(set) lazy var widget = Scroller(
        ListClamp(list.widget, widthMax: Int(Double(Self.widthMax) * Desktop.textScale)))
    private var content = Content()
    private var rows: [NotificationRows.Row] = []
    private(set) var collapsedApps: Set<String>
    private var expandedEntries: Set<Int64> = []
    private var now = PanelTime.now
    /// Whether the window is too narrow for a section's buttons beside its name.
    var isCrowded = false {
        didSet {
            guard isCrowded != oldValue else { return }
            for row in list.shownRows { row.fit(isCrowded: isCrowded) }
        }
    }
    /// The entries selected for clearing; nil outside of selection mode.
    private(set) var chosen: Set<Int64>?

    /// Creates an empty list in which the sections of some apps are collapsed.
    init(collapsedApps: Set<String>, _ actions: Actions) {
        self.collapsedApps = collapsedApps
        self.actions = actions
        list.widget.styled("inbox").named(tr("Notifications"))
        list.onActivated { [weak self] in self?.press($0) }
        listen(toKeysIn: list.widget)
        list.onViewportChanged { [weak self] in self?.actions.viewportChanged() }
    }

    private func makeList() -> RecycledList<EntryRow> {
        RecycledList<EntryRow>(
            RecycledList.Making(
                make: { [weak self] in self?.makeRow() ?? EntryRow(.none) }, root: \.root,
                bind: { [weak self] row, index in self?.bind(row, index) }, isActivatable: { _ in true },
                name: { [weak self] index in
                    guard let self else { return "" }
                    return EntryRow.name(of: rows[index], now: now)
                }, isExpanded: { [weak self] in self?.isExpanded($0) }, controls: \.controls))
    }

    private func makeRow() -> EntryRow {
        let row = EntryRow(rowActions)
        row.fit(isCrowded: isCrowded)
        return row
    }

    private var rowActions: EntryRow.Actions {
        EntryRow.Actions(
            showDetails: actions.showDetails, clear: actions.clear, allow: actions.allow,
            expand: { [weak self] in self?.toggle($0) }, clearSection: actions.clearSection,
            muteSection: actions.muteSection)
    }

    /// Adds shortcuts for the focused row; GTK itself handles Return.
    private func listen(toKeysIn list: Widget) {
        list.onShortcut("<Control>Return|<Control>KP_Enter", isLocal: true) { [weak self] in
            self?.withFocused { self?.actions.view($0) } ?? false
        }
        list.onShortcut("<Alt>Return|<Alt>KP_Enter", isLocal: true) { [weak self] in
            self?.withFocused { self?.actions.showDetails($0) } ?? false
        }
        list.onShortcut("space", isLocal: true) { [weak self] in
            guard let self, chosen != nil, let index = self.list.focusedIndex else { return false }
            press(index)
            return true
        }
        list.onShortcut("plus|KP_Add|<Shift>plus", isLocal: true) { [weak self] in self?.expandFocused(true) ?? false }
        list.onShortcut("minus|KP_Subtract", isLocal: true) { [weak self] in self?.expandFocused(false) ?? false }
    }

    // MARK: Content

    /// Whether the list has no rows.
    var isEmpty: Bool { rows.isEmpty }

    /// The listed entries, without those of collapsed sections.
    var entries: [InboxRecord] {
        rows.compactMap { row in
            if case .entry(let entry) = row { entry } else { nil }
        }
    }

    /// The unread entries on the screen.
    var visibleUnread: Set<Int64> {
        guard widget.isMapped else { return [] }
        return Set(list.visibleIndices.compactMap { entry(at: $0) }.filter { !$0.isRead }.map(\.entry))
    }

    /// Shows other content.
    func show(_ content: Content) {
        self.content = content
        now = PanelTime.now
        let hidden = content.isSearching ? [] : collapsedApps
        rows =
            NotificationRows(
                content.entries, filter: content.filter, unreadCounts: content.unreadCounts, collapsedApps: hidden
            ).rows
        let listed = entries.map(\.entry)
        expandedEntries.formIntersection(listed)
        list.show(rows.map(\.key))
        if let chosen { self.chosen = chosen.intersection(listed) }
        showChosen()
        actions.viewportChanged()
    }

    /// Updates the icons and mutes when the apps are known; the texts are shown before that.
    func showApps() {
        for row in list.shownRows { showApp(of: row) }
    }

    private func showApp(of row: EntryRow) {
        if let appID = row.sectionAppID { row.show(actions.app(appID)) }
    }

    private func entry(at index: Int) -> InboxRecord? {
        guard rows.indices.contains(index), case .entry(let entry) = rows[index] else { return nil }
        return entry
    }

    private func bind(_ row: EntryRow, _ index: Int) {
        guard rows.indices.contains(index) else { return }
        let isChecked = chosen.map { chosen in entry(at: index).map { chosen.contains($0.entry) } ?? false }
        row.show(
            rows[index], now: now,
            EntryRow.State(
                isChecked: isChecked, isExpanded: isExpanded(index) ?? false, isFirst: entry(at: index - 1) == nil,
                isLast: entry(at: index + 1) == nil))
        showApp(of: row)
    }

    // MARK: Expansion

    /// Returns whether a row shows its collapsible content; nil for a row without such content.
    private func isExpanded(_ index: Int) -> Bool? {
        guard rows.indices.contains(index) else { return nil }
        switch rows[index] {
        case .section(let section): return content.isSearching || !collapsedApps.contains(section.appID)
        case .entry(let entry): return EntryRow.isExpandable(entry) ? expandedEntries.contains(entry.entry) : nil
        }
    }

    private func toggle(_ entry: InboxRecord) {
        expandedEntries.formSymmetricDifference([entry.entry])
        if let index = rows.firstIndex(of: .entry(entry)) { list.refresh(index) }
        actions.viewportChanged()
    }

    private func toggle(_ section: NotificationRows.Section) {
        guard !content.isSearching else { return }
        collapsedApps.formSymmetricDifference([section.appID])
        show(content)
    }

    /// Expands or collapses the focused row if it can do that; returns false if no row has the focus.
    private func expandFocused(_ isExpanding: Bool) -> Bool {
        guard let index = list.focusedIndex else { return false }
        guard isExpanded(index) == !isExpanding else { return true }
        switch rows[index] {
        case .section(let section): toggle(section)
        case .entry(let entry): toggle(entry)
        }
        return true
    }

    // MARK: Focus and clicks

    /// Moves the focus to the row that had it last, else to the first notification; returns false if there is no row.
    func focus() -> Bool {
        guard !rows.isEmpty else { return false }
        list.focus(at: list.focusedIndex ?? rows.firstIndex { $0.isEntry } ?? 0)
        return true
    }

    /// Moves the focus to the first notification; returns false if there is no row.
    func focusFirst() -> Bool {
        guard !rows.isEmpty else { return false }
        list.focus(at: rows.firstIndex { $0.isEntry } ?? 0)
        return true
    }

    /// Whether a row has the focus.
    var hasFocus: Bool { list.focusedIndex != nil }

    /// The row with the focus.
    var focusedRow: NotificationRows.Row? { list.focused?.row }

    private func press(_ index: Int) {
        guard rows.indices.contains(index) else { return }
        switch rows[index] {
        case .section(let section): toggle(section)
        case .entry(let entry) where chosen == nil: actions.view(entry)
        case .entry(let entry):
            chosen?.formSymmetricDifference([entry.entry])
            showChosen()
        }
    }

    /// Applies an action to the focused notification; returns false if none has the focus.
    private func withFocused(_ body: (InboxRecord) -> Void) -> Bool {
        guard let entry = list.focused?.entry else { return false }
        body(entry)
        return true
    }

    // MARK: Selection

    /// Begins the selection mode without a selected entry, or ends it.
    func setChoosing(_ isChoosing: Bool) {
        chosen = isChoosing ? [] : nil
        showChosen()
    }

    /// Selects all listed entries.
    func chooseAll() {
        chosen = Set(entries.map(\.entry))
        showChosen()
    }

    private func showChosen() {
        for row in list.shownRows {
            row.show(isChecked: chosen.map { chosen in row.entry.map { chosen.contains($0.entry) } ?? false })
            if chosen != nil { row.hideClear() }
        }
        actions.chosenChanged()
    }
}

extension NotificationRows.Row {
    /// Whether the row is a notification.
    fileprivate var isEntry: Bool {
        if case .entry = self { true } else { false }
    }
}

extension EntryRow.Actions {
    /// Actions that do nothing.
    fileprivate static var none: Self {
        Self(
            showDetails: { _ in }, clear: { _ in }, allow: { _ in }, expand: { _ in }, clearSection: { _ in },
            muteSection: { _ in })
    }
}
