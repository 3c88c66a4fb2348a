// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit
internal import PushDBus

/// The notification list: grouped by app, newest first, with a search that updates as the user types.
final class NotificationsPage: Page {
    private let top: Box
    private let search = SearchEntry(placeholder: tr("Search"))
    private let filters = Box.row().styled("linked", "filter")
    private var filterButtons: [ToggleButton] = []
    private lazy var withheld = WithheldLine { [weak self] in self?.openSetting(of: $0) }
    private let stack = Stack()
    private let status = StatusPage()
    private let loading = Box.column(spacing: 12, Spinner(), Label(tr("Loading…")).centered())
    private let editBar: Revealer
    private let editButton = Button(tr("Edit"))
    private let selectAllButton = Button(tr("Select All"))
    private let clearButton = Button(tr("Clear"))
    private var scroller: Scroller?
    private var list: RecycledList<EntryRow>?
    private var feed: InboxFeed?
    private var filter = InboxFilter.all
    private var rows: [NotificationRows.Row] = []
    private var entries: [InboxRecord] = []
    /// The entries selected for clearing; nil outside of selection mode.
    private var chosen: Set<Int64>?
    private var isShown = false
    private lazy var wasAbsent = cache.presence == .absent
    private var hasCount = false
    private var now = PanelTime.now

    init(in window: MainWindow) {
        top = Box.column(spacing: 8, search.styled("search").expanding(across: true), filters)
        top.padded(across: 12, above: 8, below: 8)
        for button in [selectAllButton, clearButton] { button.styled("touch") }
        let bar = Box.row(spacing: 8, selectAllButton.expanding(across: true), clearButton.expanding(across: true))
            .homogeneous().padded(across: 12, above: 6, below: 6)
        editBar = Revealer(bar, from: .below)
        let column = Box.column(top)
        super.init(tr("Notifications"), in: window, column)
        for part in [withheld.widget, stack.expanding(across: true, down: true), editBar] { column.append(part) }
        buildHeader()
        buildFilters()
        buildList()
        listen()
        refresh()
        feed?.reload()
    }

    private func buildHeader() {
        editButton.setTitle(tr("Edit"), .whole)
        header.packStart(editButton.styled("touch", "flat", "text-button"))
        let menu = [
            (title: tr("Mark All as Read"), action: "win.mark-all"), (title: tr("Clear All…"), action: "win.clear-all"),
        ]
        header.packEnd(MenuButton("open-menu-symbolic", named: tr("Menu"), menu))
        window.window.addAction("mark-all") { [weak self] in self?.markAll() }
        window.window.addAction("clear-all") { [weak self] in self?.clearAll() }
    }

    private func buildFilters() {
        for filter in InboxFilter.allCases {
            let button = ToggleButton(filter.title)
            if let first = filterButtons.first { button.join(first) } else { button.isOn = true }
            filterButtons.append(button)
            filters.append(button.expanding(across: true))
            button.onToggled { [weak self, weak button] in
                if button?.isOn ?? false { self?.choose(filter) }
            }
        }
        filters.named(tr("Show"))
    }

    private func buildList() {
        let list = RecycledList<EntryRow>(
            RecycledList.Making(
                make: { [weak self] in EntryRow(self?.rowActions ?? .none) }, root: \.root,
                bind: { [weak self] row, index in self?.bind(row, index) },
                isActivatable: { [weak self] index in self?.entry(at: index) != nil },
                name: { [weak self] index in
                    guard let self else { return "" }
                    return EntryRow.name(of: rows[index], now: now)
                }, controls: \.controls))
        list.widget.styled("inbox").named(tr("Notifications"))
        search.captureTyping(in: list.widget)
        let scroller = Scroller(list.widget)
        self.list = list
        self.scroller = scroller
        for child in [scroller, status, loading.aligned(across: .center, down: .center)] { stack.add(child) }
        let feed = InboxFeed(cache) { [weak self] in self?.refresh() }
        self.feed = feed
        scroller.onEdgeReached { [weak feed] in feed?.loadMore() }
    }

    private func listen() {
        cache.watch(self) { page, topic in
            switch topic {
            case .inbox: page.noteInbox()
            case .apps: page.showIcons()
            case .settings: page.refresh()
            case .presence: page.notePresence()
            case .status, .alerts: break
            }
        }
        search.onSearchChanged { [weak self] in
            guard let self else { return }
            feed?.search(search.text)
        }
        search.onStop { [weak self] in _ = self?.escape() }
        list?.onActivated { [weak self] in self?.press($0) }
        editButton.onPressed { [weak self] in self?.toggleEditing() }
        selectAllButton.onPressed { [weak self] in self?.selectAll() }
        clearButton.onPressed { [weak self] in self?.clearChosen() }
        root.onShortcut("<Control>f") { [weak self] in self?.search.focus() ?? false }
        if let list { listen(toKeysIn: list.widget) }
    }

    /// Adds shortcuts for the focused row; GTK itself handles Return.
    private func listen(toKeysIn list: Widget) {
        list.onShortcut("Delete|KP_Delete", isLocal: true) { [weak self] in self?.clearFocused() ?? false }
        list.onShortcut("<Control>Return|<Control>KP_Enter", isLocal: true) { [weak self] in
            self?.withFocused { self?.view($0) } ?? false
        }
        list.onShortcut("<Alt>Return|<Alt>KP_Enter", isLocal: true) { [weak self] in
            self?.withFocused { self?.showDetails($0) } ?? false
        }
        list.onShortcut("space", isLocal: true) { [weak self] in
            guard let self, chosen != nil, let index = self.list?.focusedIndex else { return false }
            press(index)
            return true
        }
    }

    /// Reloads the list, except for the first count, which belongs to the list's own first query.
    private func noteInbox() {
        if hasCount { feed?.reload() } else { refresh() }
        hasCount = true
    }

    private func notePresence() {
        if cache.presence == .present, wasAbsent { feed?.reload() }
        wasAbsent = cache.presence == .absent
        if wasAbsent { hasCount = false }
        refresh()
    }

    // MARK: Display

    private func entry(at index: Int) -> InboxRecord? {
        guard rows.indices.contains(index), case .entry(let entry) = rows[index] else { return nil }
        return entry
    }

    private func bind(_ row: EntryRow, _ index: Int) {
        guard rows.indices.contains(index) else { return }
        let isChecked = chosen.map { chosen in entry(at: index).map { chosen.contains($0.entry) } ?? false }
        row.show(rows[index], now: now, isChecked: isChecked)
        row.show(icon: cache.app(row.appID)?.icon ?? "")
    }

    private func refresh() {
        guard let feed, let list else { return }
        now = PanelTime.now
        let plan = NotificationRows(feed.entries, filter: filter, unreadCounts: cache.unreadCounts)
        rows = plan.rows
        entries = plan.entries
        let hadFocus = list.focusedIndex != nil
        list.show(rows.map(\.key))
        if let chosen { self.chosen = chosen.intersection(entries.map(\.entry)) }
        showChosen()
        if !rows.isEmpty {
            if let scroller { stack.show(scroller) }
        } else if feed.isLoading, cache.presence != .absent {
            stack.show(loading)
        } else {
            showEmptiness()
            if hadFocus { search.focus() }
        }
        editButton.isVisible = !rows.isEmpty || chosen != nil
        showWithheld()
    }

    /// Shows why notifications are withheld; an empty list shows the reason itself.
    private func showWithheld() {
        func value(_ name: String) -> String { cache.setting(name)?.value ?? "" }
        let text = WithheldText(
            master: value("master"), quiet: value("do-not-disturb"), schedule: value("schedule"), now: PanelTime.now)
        withheld.show(rows.isEmpty ? nil : text)
    }

    private func openSetting(of withheld: WithheldText) {
        switch withheld {
        case .switchedOff: window.show(.settings)
        case .quiet: navigator?.push(QuietPage(in: window))
        }
    }

    /// Updates the icons when the apps are known; the texts are shown before that.
    private func showIcons() {
        for row in list?.shownRows ?? [] { row.show(icon: cache.app(row.appID)?.icon ?? "") }
    }

    private func showEmptiness() {
        let text = EmptyInboxText(
            isSearching: !search.text.isEmpty, filter: filter,
            isSwitchedOff: cache.setting("master")?.value == "off", isPaired: cache.status?.isEnrolled ?? true,
            hasAgent: cache.presence != .absent)
        status.show(icon: text.icon, title: text.title, description: text.advice)
        stack.show(status)
    }

    private func choose(_ filter: InboxFilter) {
        self.filter = filter
        feed?.choose(filter)
        refresh()
    }

    override func fit(_ shape: MainWindow.Shape) {
        super.fit(shape)
        top.turn(isRow: shape.isLow && !shape.isNarrow)
        filters.setHomogeneous(!shape.isCrowded)
    }

    override func appear() {
        isShown = true
        now = PanelTime.now
        showWithheld()
    }

    /// Marks the listed entries as read, but not entries that are filtered out or not loaded.
    override func disappear() {
        guard isShown else { return }
        isShown = false
        mark(entries.filter { !$0.isRead }.map(\.entry))
    }

    override func escape() -> Bool {
        if chosen != nil {
            toggleEditing()
            return true
        }
        guard !search.text.isEmpty else { return false }
        search.text = ""
        return true
    }

    // MARK: Actions

    private var rowActions: EntryRow.Actions {
        EntryRow.Actions(
            showDetails: { [weak self] in self?.showDetails($0) }, clear: { [weak self] in self?.clear($0) },
            clearSection: { [weak self] in self?.clear($0) })
    }

    private func press(_ index: Int) {
        guard let entry = entry(at: index) else { return }
        if chosen == nil {
            view(entry)
        } else {
            chosen?.formSymmetricDifference([entry.entry])
            showChosen()
        }
    }

    private func view(_ entry: InboxRecord) {
        window.call(.openEntry, [.int64(entry.entry), .text(Desktop.activationToken(shownAs: MainWindow.title))])
    }

    private func showDetails(_ entry: InboxRecord) { navigator?.push(EntryPage(entry, in: window)) }

    /// Marks all matching entries as read, including those that are not loaded.
    private func markAll() {
        guard (cache.unreadCount ?? 0) > 0, let feed else { return }
        if feed.isWhole { return window.call(.markRead, [.int64(0), .string("")]) }
        find { $0.mark($1.values.flatMap(\.self)) }
    }

    private func mark(_ entries: [Int64]) {
        // The agent limits the number of entries per call.
        for start in stride(from: 0, to: entries.count, by: 10_000) {
            let part = entries[start...].prefix(10_000)
            window.call(.markEntriesRead, [.array("x", part.map(BusValue.int64))])
        }
    }

    private func clear(_ entry: InboxRecord) { window.clear([entry.entry]) }

    /// Applies an action to the focused notification; returns false if none has the focus.
    private func withFocused(_ body: (InboxRecord) -> Void) -> Bool {
        guard let entry = list?.focused?.entry else { return false }
        body(entry)
        return true
    }

    /// Clears the selected entries, else the focused notification or all notifications of the focused section's app.
    private func clearFocused() -> Bool {
        guard chosen == nil else {
            clearChosen()
            return true
        }
        if case .section(let section)? = list?.focused?.row {
            clear(section)
            return true
        }
        return withFocused { clear($0) }
    }

    private func clear(_ section: NotificationRows.Section) { find { $0.offerToClear($1[section.appID] ?? []) } }

    private func clearAll() { find { $0.offerToClear($1.values.flatMap(\.self)) } }

    /// Passes all matching entries by app to the action, unless the user has left the page before the answer.
    private func find(_ body: @escaping (NotificationsPage, [String: [Int64]]) -> Void) {
        feed?.find(
            { [weak self] found in
                if let self, isShown { body(self, found) }
            }, onFailure: { [weak self] in self?.window.showError($0) })
    }

    /// Clears entries after a confirmation that shows their number; entries that arrive meanwhile stay.
    private func offerToClear(_ entries: [Int64], onClear: @escaping () -> Void = {}) {
        guard !entries.isEmpty else { return }
        let title = Texts.text("Clear %d Notification", "Clear %d Notifications", count: entries.count)
        window.offer(SheetPlan(destroy: title)) { [weak self] role in
            guard role == .destroy else { return }
            // `EntryClearing` takes entries from the end of the list, so the oldest entries are removed first.
            self?.window.clear(entries.sorted(by: >))
            onClear()
        }
    }

    // MARK: Selection

    private func toggleEditing() {
        chosen = chosen == nil ? [] : nil
        editButton.setTitle(chosen == nil ? tr("Edit") : tr("Done"), .whole)
        editBar.isRevealed = chosen != nil
        showChosen()
        refresh()
    }

    private func selectAll() {
        chosen = Set(entries.map(\.entry))
        showChosen()
    }

    private func showChosen() {
        let count = chosen?.count ?? 0
        clearButton.setTitle(count == 0 ? tr("Clear") : Texts.fill(tr("Clear %1"), "\(count)"))
        clearButton.isSensitive = count > 0
        for row in list?.shownRows ?? [] {
            row.show(isChecked: chosen.map { chosen in row.entry.map { chosen.contains($0.entry) } ?? false })
            if chosen != nil { row.hideClear() }
        }
    }

    private func clearChosen() {
        offerToClear(Array(chosen ?? [])) { [weak self] in self?.toggleEditing() }
    }
}

extension InboxFilter {
    /// The label of the filter's button.
    fileprivate var title: String {
        switch self {
        case .all: tr("All")
        case .unread: tr("Unread")
        case .notShown: tr("Not Shown")
        }
    }
}

extension EntryRow.Actions {
    /// Actions that do nothing.
    fileprivate static var none: Self { Self(showDetails: { _ in }, clear: { _ in }, clearSection: { _ in }) }
}
