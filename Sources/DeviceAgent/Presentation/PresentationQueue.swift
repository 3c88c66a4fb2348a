// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQL

/// Presents inbox entries in order, each at most once, and at a limited rate.
///
/// ```
/// waiting ──commit──▶ claimed ──present──▶ shown ──▶ viewed or closed
///    ▲                   │
///    └── unavailable ────┘        (a crash at claimed: not shown again, at most one in doubt)
/// ```
///
/// Where no presenter is available, the app's hook replaces it: the entry is shown once the hook has started. Entries
/// without a hook wait, but do not hold up the others.
final class PresentationQueue {
    /// The maximum number of alerts per second; the others wait.
    static let perSecondMax = 5
    /// The maximum number of waiting entries; above it, the oldest stay in the inbox only.
    static let waitingCountMax = 20

    /// Called with SQLite's error when an entry's state could not be stored.
    var onFailure: ((SQLError) -> Void)? {
        get { retry.onFailure }
        set { retry.onFailure = newValue }
    }
    /// Called when an entry's state has changed.
    var onChange: (() -> Void)?
    /// Called when acknowledgements were added to the outbox.
    var onOutcome: (() -> Void)?

    /// Whether the state of the sound system is known; otherwise the closure is called once it is known.
    var knowsSounds: (@escaping () -> Void) -> Bool = { _ in true }

    /// Returns the URL schemes of an installed app; nil for an app that is not installed.
    var linkSchemes: (AppID) -> [String]? = { _ in [] }

    let database: AgentDatabase
    let loop: EventLoop
    let presenter: (any AlertPresenter)?
    let hooks: HookRunner?
    let sounds: (any SoundPresenter)?
    private let currentDesktopState: () -> DesktopState
    let texts: (AppID) -> AppTranslation
    let retry: StorageRetry
    var waiting: [EntryID] = []
    /// The waiting entries that can only wait until a presenter or a hook becomes available.
    var waitingEntries: [EntryID: WaitingEntry] = [:]
    /// Entries that were queued and not examined yet.
    var arrived: [EntryID] = []
    /// Alerts on the screen whose hook has not started, oldest first; the database has them, too.
    var hooksDue: [EntryID] = []
    /// Alerts that were lost with their server, oldest first.
    var returning: [EntryID] = []
    /// The number of times that each was presented again.
    var returnCounts: [EntryID: Int] = [:]
    var state = State.ready
    var recentStarts: [MonotonicTime] = []

    /// The current work of the queue.
    ///
    /// ```
    /// ready ──present──▶ presenting ──shown──▶ ready
    ///   ▲ │                  └──unavailable──▶ blocked ──the presenter becomes available──▶ ready
    ///   │ └──too many in the last second──▶ pausing ┐
    ///   └─────────────────────────── a moment later ┘
    /// ```
    enum State {
        /// The next entry can be presented.
        case ready
        /// An alert was handed to the presenter, which has not answered.
        case presenting
        /// The presenter was unavailable and has not reported since that it is available.
        case blocked
        /// The rate limit allows no alert for a moment.
        case pausing
    }

    /// An entry that waits for a presenter of its alert's style, or else for its hook.
    struct WaitingEntry {
        var appID: AppID
        var style: AlertStyle
        var hook: HookWait
    }

    /// The reason why a hook does not show an alert yet.
    enum HookWait {
        /// The app has no hook.
        case missing
        /// All slots for hooks are in use.
        case noRoom
        /// The hook could not be started; the next attempt is at this time.
        case pause(until: MonotonicTime)
    }

    /// Creates a queue on a database with the means of presenting.
    init(
        _ database: AgentDatabase, loop: EventLoop, presenter: (any AlertPresenter)?, hooks: HookRunner? = nil,
        sounds: (any SoundPresenter)?, currentDesktopState: @escaping () -> DesktopState = { DesktopState() },
        texts: @escaping (AppID) -> AppTranslation = { _ in { _ in nil } }
    ) {
        self.database = database
        self.loop = loop
        self.presenter = presenter
        self.hooks = hooks
        self.sounds = sounds
        self.currentDesktopState = currentDesktopState
        self.texts = texts
        retry = StorageRetry(loop: loop)
        retry.onRetry = { [weak self] in self?.hookHasRoom() }
        hooks?.onRoom = { [weak self] in self?.hookHasRoom() }
    }

    /// Resumes the work of an earlier run of the agent; called once at the start.
    func resume() throws(SQLError) {
        let (alerts, waiting) = try database.transaction { () throws(SQLError) in
            _ = try database.inbox.settleClaimed(reason: "the agent stopped while it was showing this notification")
            let unfiltered = Set(try database.filters.due())
            hooksDue = try database.hooks.due()
            return (try alertsOnScreen(), try database.inbox.waiting().filter { !unfiltered.contains($0) })
        }
        presenter?.adopt(alerts)
        entriesArrived(waiting)
        startDueHooks()
    }

    /// Queues entries that are stored as waiting.
    func entriesArrived(_ entries: [EntryID]) {
        waiting += entries
        arrived += entries
        presentNext()
    }

    /// Removes entries from the queue, and their alerts from the screen.
    func withdraw(_ entries: [EntryID]) {
        let withdrawn = Set(entries)
        waiting.removeAll { withdrawn.contains($0) }
        arrived.removeAll { withdrawn.contains($0) }
        for number in entries { waitingEntries[number] = nil }
        returning.removeAll { withdrawn.contains($0) }
        presenter?.withdraw(entries: entries)
    }

    /// Resumes after the presenter has become available.
    func presenterBecameAvailable() {
        if case .blocked = state { state = .ready }
        waitingEntries = [:]
        presentNext()
    }

    /// Returns the unanswered alerts that an earlier run showed.
    private func alertsOnScreen() throws(SQLError) -> [(alert: Alert, location: AlertLocation)] {
        var alerts: [(alert: Alert, location: AlertLocation)] = []
        for (number, location) in try database.alerts.unanswered() {
            guard let entry = try database.inbox.entry(number), let app = try database.apps.app(id: entry.appID),
                let payload = try database.shownPayload(of: entry, texts(entry.appID))
            else { continue }
            alerts.append((Alert(entry, app, payload, schemes: linkSchemes(app.appID)), location))
        }
        return alerts
    }

    // MARK: Presenting one at a time

    /// Whether a presenter is available, even if it refuses alerts for a moment.
    var canShow: Bool { presenter?.isAvailable ?? false }

    /// Returns whether a presenter for alerts of a style is available.
    func canShow(_ style: AlertStyle) -> Bool { presenter?.isAvailable(for: style) ?? false }

    func presentNext() {
        guard !state.isPresenting, !retry.isWaiting else { return }
        do {
            try lineUpForHooks()
            try leaveSurplus()
            while mayPresent, !retry.isWaiting {
                // The older alert comes first, so that a newer one with its collapse ID replaces it.
                if canShow(.alert), let number = returning.first {
                    guard hasRoomNow() else { return }
                    try presentAgain(number)
                } else {
                    guard let index = nextIndex(), hasRoomNow() else { return }
                    guard knowsSounds({ [weak self] in self?.presentNext() }) else { return }
                    try present(at: index)
                }
            }
        } catch {
            retry.failed(error)
        }
    }

    /// Whether the state allows another alert.
    ///
    /// Without a presenter, a blocked queue can still start hooks.
    private var mayPresent: Bool {
        switch state {
        case .ready: true
        case .blocked: !canShow
        case .presenting, .pausing: false
        }
    }

    /// Returns the index of the first entry that can be presented now.
    private func nextIndex() -> Int? {
        waiting.firstIndex { number in
            guard let waitingEntry = waitingEntries[number], !canShow(waitingEntry.style) else { return true }
            return canRunHook(waitingEntry)
        }
    }

    private func present(at index: Int) throws(SQLError) {
        let number = waiting.remove(at: index)
        do {
            try present(number)
        } catch {
            putBack(number)
            throw error
        }
    }

    private func putBack(_ number: EntryID) {
        waiting.insert(number, at: waiting.firstIndex { $0 > number } ?? waiting.endIndex)
    }

    private func leaveSurplus() throws(SQLError) {
        let surplus = surplus()
        guard !surplus.isEmpty else { return }
        try database.transaction { () throws(SQLError) in
            for entry in surplus { try database.suppress(entry, .tooMany) }
        }
        waiting.removeAll { surplus.contains($0) }
        for entry in surplus { waitingEntries[entry] = nil }
        onOutcome?()
        onChange?()
        guard canShow(.banner) else { return }
        for banners in try database.banners(among: surplus) { presenter?.sumUp(banners.entries, of: banners.app) }
    }

    /// Returns whether the rate limit allows another alert now; otherwise a timer retries.
    private func hasRoomNow() -> Bool {
        let now = loop.now
        recentStarts.removeAll { now >= $0.advanced(bySeconds: 1) }
        guard recentStarts.count >= Self.perSecondMax, let oldest = recentStarts.first else { return true }
        state = .pausing
        loop.schedule(after: oldest.advanced(bySeconds: 1).duration(since: now)) { [weak self] in
            guard let self else { return }
            if case .pausing = state { state = .ready }
            presentNext()
        }
        return false
    }

    /// Claims an entry and presents it, after a new decision, because the settings may have changed.
    private func present(_ number: EntryID) throws(SQLError) {
        let claimed = try database.transaction { () throws(SQLError) in try claim(number) }
        onChange?()
        waitingEntries[number] = nil
        guard let (entry, app, claimedAlert, decision) = claimed else { return }
        recentStarts.append(loop.now)
        guard let style = decision.alert else { return playAlone(decision.sound, of: entry, app) }
        guard let presenter else {
            let reason = "this agent has no desktop, panel or terminal to show alerts"
            return conclude(entry, app, style, .unavailable(reason), sound: decision.sound)
        }
        var alert = claimedAlert
        (alert.sound, alert.style) = (decision.sound, style)
        state = .presenting
        presenter.present(alert) { [weak self] presented in
            guard let self else { return }
            state = .ready
            // An alert that is only counted needs no room on the screen.
            if presented == .summedUp { _ = recentStarts.popLast() }
            conclude(entry, app, style, presented, sound: decision.sound)
            presentNext()
        }
    }

    /// Returns an entry as an alert without its sound, with the effects of the user's settings.
    func alert(
        _ entry: InboxEntry, _ app: RegisteredApp, _ payload: Payload, _ decision: Decision
    ) throws(SQLError) -> Alert {
        var alert = Alert(entry, app, payload, schemes: linkSchemes(app.appID))
        if entry.threadID != nil { alert.earlierCount = try database.inbox.unansweredCount(inThreadOf: entry.entry) }
        if decision.hidesTexts { alert.hideTexts() }
        alert.mayTakeFocus = decision.mayTakeFocus
        return alert
    }

    private func claim(
        _ number: EntryID
    ) throws(SQLError) -> (InboxEntry, RegisteredApp, Alert, Decision)? {
        guard let entry = try database.inbox.entry(number), entry.state == .waiting else { return nil }
        guard let payload = try database.shownPayload(of: entry, texts(entry.appID)) else {
            try database.suppress(number, .unreadable)
            onOutcome?()
            return nil
        }
        let app = try database.apps.app(id: entry.appID)
        let decision = try database.decide(payload, for: app, presentationContext())
        try database.inbox.setEffects(decision.effectsText, of: number)
        if let app, decision.isHeldBack { try database.noteHeldBack(number, of: app) }
        guard let app, decision.needsPresentation else {
            try database.suppress(number, decision.suppression ?? .turnedOff)
            onOutcome?()
            return nil
        }
        _ = try database.inbox.move(number, from: [.waiting], to: .claimed)
        return (entry, app, try alert(entry, app, payload, decision), decision)
    }

    func presentationContext() throws(SQLError) -> PresentationContext {
        try database.settings.presentationContext(now: .now, desktopState: currentDesktopState())
    }

    /// Plays the sound of a presented alert if the presenter did not, and stores the outcome and a waiting hook.
    func finish(
        _ number: EntryID, _ presented: AlertPresented, _ app: RegisteredApp, _ style: AlertStyle, sound: Sound?,
        reason: String? = nil, hook: HookWait? = nil
    ) {
        if !presented.playsSound, let sound { play(sound, of: number, app) }
        retry.write { [weak self] () throws(SQLError) in
            try self?.settle(number, presented, app, style, reason, hook)
        }
    }

    /// Stores the outcome of an entry.
    private func settle(
        _ number: EntryID, _ presented: AlertPresented, _ app: RegisteredApp, _ style: AlertStyle, _ reason: String?,
        _ hook: HookWait?
    ) throws(SQLError) {
        switch presented {
        case .shown, .summedUp:
            let reason = presented == .summedUp ? SuppressionReason.tooMany.rawValue : reason
            let isShown = try database.transaction { () throws(SQLError) in
                if presented == .summedUp { try database.inbox.note(.tooMany, on: .sound, of: number) }
                let isShown = try database.finish(number, from: [.claimed], to: .shown, .shown, reason: reason)
                if isShown, hook != nil { try database.hooks.add(number) }
                if isShown, let note = try database.filters.row(of: number)?.note, !note.isEmpty {
                    try database.inbox.setReason(note, of: number)
                }
                return isShown
            }
            if isShown, hook != nil { hookIsDue(number) }
            onOutcome?()
        case .inDoubt:
            let isShown = try database.transaction { () throws(SQLError) in
                let isShown = try database.inbox.move(
                    number, from: [.claimed], to: .shown, reason: AlertPresented.doubt)
                if isShown, hook != nil { try database.hooks.add(number) }
                return isShown
            }
            if isShown, hook != nil { hookIsDue(number) }
        case .unavailable(let reason):
            let isBack = try database.transaction { () throws(SQLError) in
                try database.inbox.move(number, from: [.claimed], to: .waiting, reason: reason)
            }
            // An entry that was withdrawn meanwhile is no longer claimed.
            guard isBack else { break }
            if canShow(style) {
                // The answer about the alert that is being presented sets the state itself.
                if !state.isPresenting { state = .blocked }
            } else {
                waitingEntries[number] = WaitingEntry(appID: app.appID, style: style, hook: hook ?? .missing)
            }
            putBack(number)
        }
        onChange?()
    }
}

extension PresentationQueue.State {
    /// Whether an alert was handed to the presenter.
    fileprivate var isPresenting: Bool { if case .presenting = self { true } else { false } }
}
