// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit
internal import PushAPI
internal import PushDBus

/// The panel's main window with three tabs, each with its own stack of pages.
final class MainWindow {
    /// The layout constraints that follow from the window's size.
    struct Shape: Equatable {
        /// Whether the window is too narrow for all buttons of a header.
        var isNarrow: Bool
        /// Whether the window is too narrow for a header with three window buttons and a long title.
        var isTight: Bool
        /// Whether the window is too narrow for labels of equal width.
        var isCrowded: Bool
        /// Whether the window is too low for much content above a list.
        var isLow: Bool
        /// Whether a header has space for the tabs.
        var isWide: Bool

        /// Computes the constraints; larger text needs more space.
        init(width: Int, height: Int) {
            let scale = Desktop.textScale
            isNarrow = Double(width) < 380 * scale
            isTight = Double(width) < 440 * scale
            isCrowded = Double(width) < 290 * scale
            isLow = Double(height) < 400 * scale
            isWide = Double(width) >= 760 * scale
        }
    }

    /// The name of the product, which is the same in every language.
    static let title = "Posthorn"

    let window: ApplicationWindow
    private(set) var shape: Shape
    let cache: AgentStateCache
    let application: Application
    /// The state that the panel keeps; the pages update their parts.
    var state: PanelState
    private let onClosed: () -> Void
    private let place: Overlay
    private let content = Box.column()
    private let stack = Stack()
    private let notice = Notice()
    private var tabBars: [TabBar] = []
    private var bottomTabs: TabBar?
    private var navigators: [PanelTab: Navigator] = [:]
    private weak var settings: SettingsPage?
    private var tab = PanelTab.notifications
    private var sheet: ActionSheet?
    private lazy var progress: ProgressLine = ProgressLine { [weak self] in self?.clearing.stop() }
    private lazy var clearing: EntryClearing = EntryClearing(
        cache, onProgress: { [weak self] in self?.progress.show($0) }, onFailure: { [weak self] in self?.showError($0) }
    )
    /// The number of unread notifications that are cleared but that the agent still counts.
    var clearedUnreadCount = 0 {
        didSet { if clearedUnreadCount != oldValue { showUnread() } }
    }
    private var pairing: PairingWindow?
    /// The unsaved input of the pairing form.
    var pairingDraft = PairingWindow.Draft()

    /// Creates the window and requests all data that it shows from the agent.
    ///
    /// - Parameters:
    ///   - application: The application.
    ///   - cache: The agent's state.
    ///   - state: The window's state at the end of the last run.
    ///   - onClosed: Called before the window is destroyed.
    init(of application: Application, _ cache: AgentStateCache, _ state: PanelState, onClosed: @escaping () -> Void) {
        self.cache = cache
        self.application = application
        self.state = state
        self.onClosed = onClosed
        let screen = Desktop.monitorSize ?? (1024, 768)
        let scale = Desktop.textScale
        let size = state.size ?? PanelState.Size(width: Int(420 * scale), height: Int(640 * scale))
        window = ApplicationWindow(
            of: application, title: Self.title, width: min(size.width, screen.width),
            height: min(size.height, screen.height))
        if state.isMaximized { window.maximize() }
        place = Overlay(content)
        // The window does not have its size yet, so this is the limit of the initial layout.
        shape = Shape(
            width: min(state.isMaximized ? screen.width : size.width, screen.width), height: screen.height)
        build()
        listen()
        cache.askAll()
        showPresence()
        show(state.tab)
    }

    private func build() {
        let settings = SettingsPage(in: self)
        self.settings = settings
        let pages: [(PanelTab, Page)] = [
            (.notifications, NotificationsPage(in: self)), (.apps, AppsPage(in: self)), (.settings, settings),
        ]
        for (tab, page) in pages {
            page.tabs = makeTabs(.header)
            let navigator = Navigator(page, in: self)
            navigators[tab] = navigator
            stack.add(navigator.widget)
        }
        let bottom = makeTabs(.bottom)
        bottomTabs = bottom
        content.append(stack.expanding(across: true, down: true))
        for part in [progress.widget, notice.widget, bottom.widget] { content.append(part) }
        let probe = SizeProbe { [weak self] in self?.fit($0, $1) }
        probe.setReachable(false)
        place.lay(over: probe)
        window.setContent(place)
        window.sized(width: 300, height: 280)
        showShape()
    }

    private func makeTabs(_ place: TabBar.Place) -> TabBar {
        let bar = TabBar(place) { [weak self] in self?.show($0) }
        tabBars.append(bar)
        return bar
    }

    private func fit(_ width: Int, _ height: Int) {
        let shape = Shape(width: width, height: height)
        guard shape != self.shape else { return }
        self.shape = shape
        // The layout must not change during GTK's layout phase.
        MainLoop.whenIdle { [weak self] in
            self?.showShape()
            for navigator in self?.navigators.values ?? [:].values { navigator.fit(shape) }
        }
    }

    private func showShape() {
        window.setStyle("compact", shape.isNarrow || shape.isLow)
        window.setStyle("crowded", shape.isCrowded)
        bottomTabs?.widget.isVisible = !shape.isWide
    }

    private func listen() {
        cache.watch(self) { window, topic in
            switch topic {
            case .presence: window.showPresence()
            case .inbox: window.showUnread()
            case .status, .apps, .alerts, .settings: break
            }
        }
        window.onCloseRequest { [weak self] in
            self?.top?.disappear()
            // The window is released later, because this code runs in one of its signals.
            MainLoop.whenIdle { self?.onClosed() }
            return false
        }
        for (index, tab) in PanelTab.allCases.enumerated() {
            window.onShortcut("<Control>\(index + 1)|<Alt>\(index + 1)") { [weak self] in self?.goTo(tab) ?? false }
        }
        window.onShortcut("<Control>w|<Control>q") { [weak self] in
            self?.window.close()
            return true
        }
        window.onShortcut("<Alt>Left|Back") { [weak self] in self?.goBack() ?? false }
        window.onShortcut("Escape") { [weak self] in self?.escape() ?? false }
        window.onShortcut("F5") { [weak self] in
            self?.cache.askAll()
            self?.showPresence()
            return true
        }
        window.onShortcut("<Control>question|<Control><Shift>question|F1") { [weak self] in
            self?.showShortcuts()
            return true
        }
        window.addAction("shortcuts") { [weak self] in self?.showShortcuts() }
        window.addAction("about") { [weak self] in self?.showAbout() }
    }

    private var top: Page? { navigators[tab]?.top }

    /// Shows a tab and moves the focus to its content.
    private func goTo(_ tab: PanelTab) -> Bool {
        guard sheet == nil else { return false }
        show(tab)
        top?.focus()
        return true
    }

    /// Returns to the previous page, but not below an open sheet.
    private func goBack() -> Bool { sheet == nil && top?.navigator?.pop() ?? false }

    private func escape() -> Bool {
        if let sheet {
            sheet.choose(.cancel)
            return true
        }
        return top.map { $0.escape() || $0.navigator?.pop() ?? false } ?? false
    }

    // MARK: Display

    /// Shows a tab; if it is already shown, returns to its first page.
    func show(_ tab: PanelTab) {
        guard let navigator = navigators[tab] else { return }
        if tab == self.tab, navigator.depth > 1 { navigator.popAll() }
        if tab != self.tab {
            top?.disappear()
            notice.leave()
        }
        self.tab = tab
        stack.show(navigator.widget)
        for bar in tabBars { bar.show(tab) }
        navigator.top.appear()
    }

    /// Shows the part of the settings that is about the server.
    func showServer() {
        navigators[.settings]?.popAll()
        show(.settings)
        settings?.focusServer()
    }

    /// Shows and raises the window; a new window gets the focus on its content.
    func present() {
        let isNew = !window.isMapped
        window.present()
        if isNew { top?.focus() }
    }

    /// The state to keep at the end of the run.
    var currentState: PanelState {
        var state = state
        let size = window.defaultSize
        if size.width > 0, size.height > 0 { state.size = PanelState.Size(width: size.width, height: size.height) }
        state.isMaximized = window.isMaximized
        state.tab = tab
        return state
    }

    /// The number of unread notifications, without those that are cleared but can be restored.
    private var unreadCount: Int? { cache.unreadCount.map { max($0 - clearedUnreadCount, 0) } }

    private func showUnread() {
        for bar in tabBars { bar.setBadge(BadgeText.tab(unreadCount), of: .notifications) }
    }

    private func showPresence() {
        showUnread()
        switch cache.presence {
        case .asking, .present: notice.pass()
        case .absent:
            notice.show(
                tr("The notification service is not running. This information may be outdated."), isPassing: true,
                (tr("Start"), { [weak self] in self?.cache.askAll() }))
        }
    }

    // MARK: Services for pages

    /// Shows an error and its remedy.
    func showError(_ error: BusError) {
        // Without the agent, its absence is the problem to report.
        guard cache.presence != .absent else { return showPresence() }
        notice.show(ProblemText.text(error), details: error.message)
    }

    /// Calls a method of the agent; shows an error and then calls `onFailure` if the call fails.
    func call(
        _ method: AgentMethod, _ arguments: [BusValue], timeout: Duration = .seconds(25),
        onSuccess: @escaping ([BusValue]) -> Void = { _ in }, onFailure: @escaping () -> Void = {}
    ) {
        cache.agent?.call(method, arguments, timeout: timeout) { [weak self] answer in
            switch answer {
            case .success(let values): onSuccess(values)
            case .failure(let error):
                onFailure()
                self?.showError(error)
            }
        }
    }

    /// Changes a setting; if the agent refuses, the row shows the effective value again.
    func set(_ name: String, of appID: String = "", event: String = "", to value: String) {
        let arguments: [BusValue] = [.text(appID), .text(event), .text(name), .text(value)]
        call(.setSetting, arguments, onFailure: { [weak self] in self?.cache.notifyWatchersAgain(.settings(appID)) })
    }

    /// Clears entries for good, with the progress of a long operation.
    func clear(_ entries: [Int64]) { clearing.clear(entries) }

    /// Plays a sound as a notification of the app would.
    func play(_ sound: String, of appID: String) { call(.playSound, [.text(appID), .text(sound)]) }

    /// Shows a sheet of choices; does nothing while another sheet is open.
    func offer(_ plan: SheetPlan, _ onChosen: @escaping (SheetPlan.Role) -> Void) {
        guard sheet == nil else { return }
        let focused = window.focusedWidget
        sheet = ActionSheet(plan, on: place, over: content) { [weak self] role in
            self?.sheet = nil
            // A menu item no longer exists when its menu has closed.
            if let focused, focused.isMapped { focused.focus() } else { self?.top?.focus() }
            onChosen(role)
        }
    }

    /// Offers to mute an app for some time, or to end that.
    func offerMute(of appID: String, _ name: String) {
        let isMuted = cache.app(appID).flatMap { MuteText.state($0, now: PanelTime.now) } != nil
        let choices = MuteText.choices(now: PanelTime.now)
        let titles = choices.map(MuteText.title) + (isMuted ? [Texts.fill(tr("Unmute %1"), name)] : [])
        offer(SheetPlan(destroy: nil, choices: titles)) { [weak self] role in
            guard case .choose(let index) = role else { return }
            let value =
                choices.indices.contains(index)
                ? MuteText.value(choices[index], now: PanelTime.now) : DoNotDisturb.off.text
            self?.set("muted", of: appID, to: value)
        }
    }

    /// Opens the form for pairing, or for trusting the server again.
    func pair(_ purpose: PairingWindow.Purpose = .pairing) {
        pairing = PairingWindow(purpose, in: self) { [weak self] in self?.pairing = nil }
    }

    /// Opens an app's settings on top of the given page.
    func showSettings(of app: AppRecord, from page: Page) {
        page.navigator?.push(AppSettingsPage(app, in: self))
    }
}
