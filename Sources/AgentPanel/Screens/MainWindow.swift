// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit
internal import PushDBus

/// The panel's main window with three tabs, each with its own stack of pages.
final class MainWindow {
    /// The tabs of the window.
    enum Tab: CaseIterable {
        case notifications, apps, settings
    }

    /// The layout constraints that follow from the window's size.
    struct Shape: Equatable {
        /// Whether the window is too narrow for all buttons of a header.
        var isNarrow: Bool
        /// Whether the window is too narrow for labels of equal width.
        var isCrowded: Bool
        /// Whether the window is too low for much content above a list.
        var isLow: Bool

        /// Computes the constraints; larger text needs more space.
        init(width: Int, height: Int) {
            let scale = Desktop.textScale
            isNarrow = Double(width) < 380 * scale
            isCrowded = Double(width) < 290 * scale
            isLow = Double(height) < 400 * scale
        }
    }

    /// The name of the product, which is the same in every language.
    static let title = "Posthorn"

    let window: ApplicationWindow
    private(set) var shape: Shape
    let cache: AgentStateCache
    let application: Application
    private let onClosed: () -> Void
    private let place: Overlay
    private let content = Box.column()
    private let stack = Stack()
    private let notice = Notice()
    private var tabs: TabBar?
    private var navigators: [Tab: Navigator] = [:]
    private var tab = Tab.notifications
    private var sheet: ActionSheet?
    private lazy var progress: ProgressLine = ProgressLine { [weak self] in self?.clearing.stop() }
    private lazy var clearing: EntryClearing = EntryClearing(
        cache, onProgress: { [weak self] in self?.progress.show($0) }, onFailure: { [weak self] in self?.showError($0) }
    )
    private var pairing: PairingWindow?
    /// The unsaved input of the pairing form.
    var pairingDraft = PairingWindow.Draft()

    /// Creates the window and requests all data that it shows from the agent.
    init(of application: Application, _ cache: AgentStateCache, onClosed: @escaping () -> Void) {
        self.cache = cache
        self.application = application
        self.onClosed = onClosed
        let screen = Desktop.monitorSize ?? (1024, 768)
        let scale = Desktop.textScale
        window = ApplicationWindow(
            of: application, title: Self.title, width: min(Int(420 * scale), screen.width),
            height: min(Int(640 * scale), screen.height))
        place = Overlay(content)
        // The window does not know its size yet, so the screen's size is the limit of the initial layout.
        shape = Shape(width: screen.width, height: screen.height)
        build()
        listen()
        cache.askAll()
        showPresence()
    }

    private func build() {
        let pages: [(Tab, Page)] = [
            (.notifications, NotificationsPage(in: self)), (.apps, AppsPage(in: self)),
            (.settings, SettingsPage(in: self)),
        ]
        for (tab, page) in pages {
            let navigator = Navigator(page, in: self)
            navigators[tab] = navigator
            stack.add(navigator.widget)
        }
        let tabs = TabBar { [weak self] in self?.show($0) }
        self.tabs = tabs
        content.append(stack.expanding(across: true, down: true))
        content.append(progress.widget)
        content.append(notice.widget)
        content.append(tabs.widget)
        let probe = SizeProbe { [weak self] in self?.fit($0, $1) }
        probe.setReachable(false)
        place.lay(over: probe)
        window.setContent(place)
        window.sized(width: 300, height: 280)
        showShape()
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
            self?.navigators[self?.tab ?? .apps]?.top.disappear()
            // The window is released later, because this code runs in one of its signals.
            MainLoop.whenIdle { self?.onClosed() }
            return false
        }
        for (index, tab) in Tab.allCases.enumerated() {
            window.onShortcut("<Control>\(index + 1)|<Alt>\(index + 1)") { [weak self] in self?.goTo(tab) ?? false }
        }
        window.onShortcut("<Control>w|<Control>q") { [weak self] in
            self?.window.close()
            return true
        }
        window.onShortcut("<Alt>Left|Back") { [weak self] in self?.top?.navigator?.pop() ?? false }
        window.onShortcut("Escape") { [weak self] in self?.escape() ?? false }
        window.onShortcut("F5") { [weak self] in
            self?.cache.askAll()
            self?.showPresence()
            return true
        }
    }

    private var top: Page? { navigators[tab]?.top }

    private func goTo(_ tab: Tab) -> Bool {
        guard sheet == nil else { return false }
        show(tab)
        return true
    }

    private func escape() -> Bool {
        if let sheet {
            sheet.choose(.cancel)
            return true
        }
        return top.map { $0.escape() || $0.navigator?.pop() ?? false } ?? false
    }

    // MARK: Display

    /// Shows a tab; if it is already shown, returns to its first page.
    func show(_ tab: Tab) {
        guard let navigator = navigators[tab] else { return }
        if tab == self.tab, navigator.depth > 1 { navigator.popAll() }
        if tab != self.tab {
            top?.disappear()
            notice.leave()
        }
        self.tab = tab
        stack.show(navigator.widget)
        tabs?.show(tab)
        navigator.top.appear()
    }

    func present() { window.present() }

    private func showUnread() { tabs?.setBadge(BadgeText.tab(cache.unreadCount), of: .notifications) }

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
        notice.show(ProblemText.text(error))
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

    /// Opens the pairing form.
    func pair() {
        pairing = PairingWindow(in: self) { [weak self] in self?.pairing = nil }
    }

    /// Opens an app's settings on top of the given page.
    func showSettings(of app: AppRecord, from page: Page) {
        page.navigator?.push(AppSettingsPage(app, in: self))
    }
}
