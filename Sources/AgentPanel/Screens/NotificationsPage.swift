// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit
internal import PushDBus

/// The page with the notification list: grouped by app, newest first, with a search that updates as the user types.
final class NotificationsPage: Page {
    private let top: Box
    private let search = SearchEntry(placeholder: tr("Search"))
    private let filters = Box.row().styled("linked", "filter")
    private var filterButtons: [InboxFilter: ToggleButton] = [:]
    private lazy var trouble = StatusLine(icon: "dialog-warning-symbolic") { [weak self] in self?.openTrouble() }
    private lazy var withheld = StatusLine { [weak self] in self?.openWithheld() }
    private let stack = Stack()
    private lazy var toasts = ToastOverlay(stack)
    private lazy var undoable = UndoableClearing(
        remove: { [weak self] in self?.window.clear($0) }, onChange: { [weak self] in self?.refresh() })
    /// Dismisses the message about the notification that was cleared last.
    private var closeToast: () -> Void = {}
    private let status = StatusPage()
    private let loading = Box.column(spacing: 12, Spinner(), Label(tr("Loading…")).centered())
    private let editBar: Revealer
    private let editButton = Button(tr("Edit"))
    private let selectAllButton = Button(tr("Select All"))
    private let clearButton = Button(tr("Clear"))
    private lazy var list = InboxList(collapsedApps: window.state.collapsedApps, listActions)
    private lazy var feed = InboxFeed(cache, filter) { [weak self] in self?.refresh() }
    private lazy var seen = SeenTracker(
        visible: { [weak self] in self?.visibleUnread ?? [] }, afterLayout: { [stack] in stack.onceLaidOut($0) })
    private var filter = InboxFilter.all
    private var isShown = false
    private lazy var wasAbsent = cache.presence == .absent
    private var hasCount = false
    private var shownWithheld: WithheldText?
    private var focusesLoadedList = false
    /// Whether the first result gets the focus as soon as the search is answered.
    private var focusesResults = false

    init(in window: MainWindow) {
        let controls = Box.column(spacing: 8, search.styled("search").expanding(across: true), filters)
        top = controls.padded(across: 12, above: 8, below: 8)
        for button in [selectAllButton, clearButton] { button.styled("touch") }
        let bar = Box.row(spacing: 8, selectAllButton.expanding(across: true), clearButton.expanding(across: true))
            .homogeneous().padded(across: 12, above: 6, below: 6)
        editBar = Revealer(Self.clamp(bar), from: .below)
        let column = Box.column(Self.clamp(top))
        super.init(tr("Notifications"), in: window, column)
        filter = window.state.filter
        for part in [Self.clamp(trouble.widget), Self.clamp(withheld.widget)] { column.append(part) }
        for part in [toasts.expanding(across: true, down: true), editBar] { column.append(part) }
        let place = loading.aligned(across: .center, down: .center)
        for child in [list.widget, status, place] { stack.add(child) }
        buildHeader()
        buildFilters()
        listen()
        refresh()
        feed.reload()
    }

    /// Limits a part of the page to the width of the list.
    private static func clamp(_ widget: Widget) -> Widget {
        Clamp(widget, widthMax: Int(Double(InboxList.widthMax) * Desktop.textScale))
    }

    private func buildHeader() {
        editButton.setTitle(tr("Edit"), .whole)
        header.packStart(editButton.styled("touch", "flat", "text-button"))
        let menu = [
            [
                (title: tr("Mark All as Read"), action: "win.mark-all"),
                (title: tr("Clear All…"), action: "win.clear-all"),
            ], window.menu,
        ]
        header.packEnd(MenuButton("open-menu-symbolic", named: tr("Menu"), menu))
        window.window.addAction("mark-all") { [weak self] in self?.markAll() }
        window.window.addAction("clear-all") { [weak self] in self?.clearAll() }
    }

    private func buildFilters() {
        for filter in InboxFilter.allCases {
            let button = ToggleButton(filter.title)
            if let first = filterButtons[.all] { button.join(first) }
            button.isOn = filter == self.filter
            filterButtons[filter] = button
            filters.append(button.expanding(across: true))
            button.onToggled { [weak self, weak button] in
                if button?.isOn ?? false { self?.choose(filter) }
            }
        }
        filters.named(tr("Show"))
    }

    private func listen() {
        cache.watch(self) { page, topic in
            switch topic {
            case .inbox: page.noteInbox()
            case .apps: page.list.showApps()
            case .settings: page.refresh()
            case .presence: page.notePresence()
            case .status: page.showLines()
            case .alerts: break
            }
        }
        list.widget.onEdgeReached { [weak self] in self?.feed.loadMore() }
        search.onSearchChanged { [weak self] in
            guard let self else { return }
            if feed.search(search.text) { focusesResults = false }
        }
        search.onShortcut("Down|KP_Down", isLocal: true) { [weak self] in self?.focusResults() ?? false }
        search.onStop { [weak self] in _ = self?.escape() }
        editButton.onPressed { [weak self] in self?.toggleEditing() }
        selectAllButton.onPressed { [weak self] in self?.list.chooseAll() }
        clearButton.onPressed { [weak self] in self?.clearChosen() }
        root.onShortcut("<Control>f") { [weak self] in self?.search.focus() ?? false }
        list.widget.onShortcut("Delete|KP_Delete", isLocal: true) { [weak self] in self?.clearFocused() ?? false }
        window.window.onActiveChanged { [weak self] in self?.noteActivity() }
    }

    private var listActions: InboxList.Actions {
        InboxList.Actions(
            view: { [weak self] in self?.view($0) },
            showDetails: { [weak self] entry in
                guard let self else { return }
                navigator?.push(EntryPage(entry, in: window) { [weak self] in self?.clear(entry) })
            },
            clear: { [weak self] in self?.clear($0) },
            allow: { [weak self] in self?.window.set($0.offer, of: $0.appID, to: "on") },
            clearSection: { [weak self] in self?.clear($0) },
            muteSection: { [weak self] in self?.window.offerMute(of: $0.appID, $0.name) },
            app: { [weak self] in self?.cache.app($0) },
            chosenChanged: { [weak self] in self?.showChosen() },
            viewportChanged: { [weak self] in self?.noteViewport() })
    }

    /// Reloads the list, except for the first count, which belongs to the list's own first query.
    private func noteInbox() {
        undoable.noteCount()
        if hasCount { feed.reload() } else { refresh() }
        hasCount = true
    }

    private func notePresence() {
        if cache.presence == .present, wasAbsent { feed.reload() }
        wasAbsent = cache.presence == .absent
        if wasAbsent { hasCount = false }
        refresh()
    }

    // MARK: Display

    /// Updates the page after a change of the inbox, the filter or the hidden entries.
    private func refresh() {
        let hadFocus = list.hasFocus
        let hidden = undoable.hidden
        list.show(
            InboxList.Content(
                entries: feed.entries.filter { !hidden.contains($0.entry) }, filter: filter,
                unreadCounts: unreadCounts(), isSearching: !search.text.isEmpty))
        if !list.isEmpty {
            stack.show(list.widget)
            if focusesLoadedList, isShown, search.text.isEmpty { _ = list.focus() }
            focusesLoadedList = false
            if focusesResults, !feed.isLoading { _ = focusResults() }
        } else if feed.isLoading, cache.presence != .absent {
            stack.show(loading)
        } else {
            showEmptiness()
            if hadFocus { search.focus() }
        }
        editButton.isVisible = !list.isEmpty || list.chosen != nil
        showLines()
    }

    /// Returns the number of unread notifications by app, without those that are cleared but can be restored.
    private func unreadCounts() -> [String: Int] {
        let cleared = feed.entries.filter { undoable.counted.contains($0.entry) && !$0.isRead }
        window.clearedUnreadCount = cleared.count
        return cleared.reduce(into: cache.unreadCounts) { $0[$1.appID, default: 0] -= 1 }
    }

    private func value(_ name: String) -> String { cache.setting(name)?.value ?? "" }

    /// Shows why nothing can arrive, and why notifications are withheld; an empty list shows the reason itself.
    private func showLines() {
        let trouble = cache.presence == .absent ? nil : cache.status.flatMap { ConnectionTrouble($0) }
        self.trouble.show(trouble?.text(now: PanelTime.now), remedy: trouble?.remedy)
        let reason = WithheldText(
            master: value("master"), quiet: value("do-not-disturb"), schedule: value("schedule"), now: PanelTime.now)
        shownWithheld = list.isEmpty ? nil : reason
        withheld.show(shownWithheld?.text)
    }

    private func openTrouble() {
        switch cache.status.flatMap({ ConnectionTrouble($0) }) {
        case .notPaired?: window.pair()
        case .disconnected?, nil: window.showServer()
        }
    }

    private func openWithheld() {
        switch shownWithheld {
        case .turnedOff?: window.show(.settings)
        case .quiet?: navigator?.push(QuietPage(in: window))
        case nil: break
        }
    }

    private func showEmptiness() {
        let text = EmptyInboxText(
            isSearching: !search.text.isEmpty, filter: filter, isSwitchedOff: value("master") == "off",
            isPaired: cache.status?.isEnrolled ?? true, hasAgent: cache.presence != .absent)
        status.show(icon: text.icon, title: text.title, description: text.advice)
        stack.show(status)
    }

    private func choose(_ filter: InboxFilter) {
        self.filter = filter
        window.state.filter = filter
        feed.choose(filter)
        refresh()
    }

    override func fit(_ shape: MainWindow.Shape) {
        super.fit(shape)
        top.turn(isRow: shape.isWide || shape.isLow && !shape.isNarrow)
        filters.setHomogeneous(!shape.isCrowded)
        list.isCrowded = shape.isCrowded
    }

    // MARK: Life on the screen

    override func appear() {
        isShown = true
        search.captureTyping(in: window.window)
        seen.noteChange()
        showLines()
    }

    override func disappear() {
        guard isShown else { return }
        search.captureTyping(in: nil)
        markSeen()
        undoable.commit()
        closeToast()
        isShown = false
    }

    /// Moves the focus to the list, as soon as it has loaded.
    override func focus() {
        guard !list.focus() else { return }
        if feed.isLoading { focusesLoadedList = true } else { search.focus() }
    }

    /// Moves the focus from the search to the first result, as soon as the search is answered.
    private func focusResults() -> Bool {
        // The entry reports a change only after a pause.
        feed.search(search.text)
        focusesResults = feed.isLoading
        return focusesResults || list.focusFirst()
    }

    override func escape() -> Bool {
        if list.chosen != nil {
            toggleEditing()
            return true
        }
        guard !search.text.isEmpty else { return false }
        search.text = ""
        return true
    }

    /// The unread notifications that the user can see now.
    private var visibleUnread: Set<Int64> { isShown && window.window.isActive ? list.visibleUnread : [] }

    private func noteViewport() {
        window.state.collapsedApps = list.collapsedApps
        seen.noteChange()
    }

    /// Marks the seen notifications when the user turns to another window, so that the badge is right.
    private func noteActivity() {
        guard isShown else { return }
        if window.window.isActive { seen.noteChange() } else { markSeen() }
    }

    private func markSeen() { mark(seen.take()) }

    // MARK: Actions

    private func view(_ entry: InboxRecord) {
        window.call(.openEntry, [.int64(entry.entry), .text(Desktop.activationToken(shownAs: MainWindow.title))])
    }

    /// Marks all matching entries as read, including those that are not loaded.
    private func markAll() {
        guard (cache.unreadCount ?? 0) > 0 else { return }
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

    /// Clears the selected entries, else the focused notification or all notifications of the focused section's app.
    private func clearFocused() -> Bool {
        guard list.chosen == nil else {
            clearChosen()
            return true
        }
        switch list.focusedRow {
        case .section(let section)?: clear(section)
        case .entry(let entry)?: clear(entry)
        case nil: return false
        }
        return true
    }

    /// Clears one notification, and offers to undo that for some seconds.
    private func clear(_ entry: InboxRecord) {
        closeToast()
        undoable.clear(entry.entry)
        closeToast = toasts.show(
            tr("Notification cleared"), button: tr("Undo"),
            onPressed: { [weak self] in self?.undoable.undo(entry.entry) },
            onDismissed: { [weak self] in self?.undoable.commit(entry.entry) })
    }

    private func clear(_ section: NotificationRows.Section) { find { $0.offerToClear($1[section.appID] ?? []) } }

    private func clearAll() { find { $0.offerToClear($1.values.flatMap(\.self)) } }

    /// Passes all matching entries by app to the action, unless the user has left the page before the answer.
    private func find(_ body: @escaping (NotificationsPage, [String: [Int64]]) -> Void) {
        feed.find(
            { [weak self] found in
                guard let self, isShown else { return }
                body(self, found.mapValues { $0.filter { !undoable.hidden.contains($0) } })
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
        // The message would cover rows that the user wants to select.
        closeToast()
        let isChoosing = list.chosen == nil
        list.setChoosing(isChoosing)
        editButton.setTitle(isChoosing ? tr("Done") : tr("Edit"), .whole)
        editBar.isRevealed = isChoosing
        refresh()
    }

    private func showChosen() {
        let count = list.chosen?.count ?? 0
        clearButton.setTitle(count == 0 ? tr("Clear") : Texts.fill(tr("Clear %1"), "\(count)"))
        clearButton.isSensitive = count > 0
    }

    private func clearChosen() {
        offerToClear(Array(list.chosen ?? [])) { [weak self] in self?.toggleEditing() }
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
