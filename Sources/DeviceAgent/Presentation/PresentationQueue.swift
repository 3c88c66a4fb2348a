// SPDX-License-Identifier: Apache-2.0

internal import PushCore
package import PushNet
package import PushSQLite

/// Presents inbox entries, each at most once, in their order, and no faster than a person can take.
///
/// ```
/// waiting ──commit──▶ claimed ──present──▶ shown ──▶ viewed or closed
///    ▲                   │
///    └── unavailable ────┘        (a crash at claimed: not shown again, at most one in doubt)
/// ```
///
/// Where nothing shows alerts, an app's hook does, and what has none waits without holding up the others.
package final class PresentationQueue {
    /// Alerts in one second; the rest waits.
    package static let perSecondMax = 5
    /// Entries that may wait; when there are more, the oldest are left to the inbox.
    package static let waitingCountMax = 20

    /// Gets what SQLite said when an entry could not be moved on.
    package var onFailure: ((SQLiteError) -> Void)? {
        get { retry.onFailure }
        set { retry.onFailure = newValue }
    }
    /// Called when an entry's state has changed.
    package var onChange: (() -> Void)?
    /// Called when acknowledgements were added to the outbox.
    package var onOutcome: (() -> Void)?

    let database: AgentDatabase
    let loop: EventLoop
    let presenter: (any AlertPresenter)?
    private let hooks: HookRunner?
    private let sounds: (any SoundPresenter)?
    private let desk: () -> DeskState
    private let texts: (String) -> AppTexts.Translation
    private let retry: StorageRetry
    private var waiting: [Int64] = []
    /// Of these, what can do nothing but wait for something that shows alerts, with its app.
    private var parked: [Int64: String] = [:]
    /// Alerts that a server took along when it went, oldest first.
    var returning: [Int64] = []
    /// How often each came back already.
    var returnCounts: [Int64: Int] = [:]
    var isPresenting = false
    /// The presenter said that it is unavailable, and has not said otherwise since.
    var isBlocked = false
    var recentStarts: [UInt64] = []
    private var timer: TimerID?

    /// Works on a database with what there is to present with.
    package init(
        _ database: AgentDatabase, loop: EventLoop, presenter: (any AlertPresenter)?, hooks: HookRunner? = nil,
        sounds: (any SoundPresenter)?, desk: @escaping () -> DeskState = { DeskState() },
        texts: @escaping (String) -> AppTexts.Translation = { _ in { _ in nil } }
    ) {
        self.database = database
        self.loop = loop
        self.presenter = presenter
        self.hooks = hooks
        self.sounds = sounds
        self.desk = desk
        self.texts = texts
        retry = StorageRetry(loop: loop)
        retry.onRetry = { [weak self] in self?.presentNext() }
    }

    /// At start: takes up what an earlier run of the agent left.
    package func resume() throws(SQLiteError) {
        let (alerts, waiting) = try database.transaction { () throws(SQLiteError) in
            _ = try database.inbox.settleClaimed(reason: "the agent ended while it was shown")
            let unfiltered = Set(try database.filters.due())
            return (try alertsOnScreen(), try database.inbox.waiting().filter { !unfiltered.contains($0) })
        }
        presenter?.adopt(alerts)
        entriesArrived(waiting)
    }

    /// Takes entries that were written as waiting.
    package func entriesArrived(_ entries: [Int64]) {
        waiting += entries
        presentNext()
    }

    /// Forgets entries that wait no longer, and takes alerts off the screen.
    package func withdraw(_ entries: [Int64]) {
        let withdrawn = Set(entries)
        waiting.removeAll { withdrawn.contains($0) }
        for number in entries { parked[number] = nil }
        returning.removeAll { withdrawn.contains($0) }
        presenter?.withdraw(entries: entries)
    }

    /// The presenter is there again.
    package func presenterBecameAvailable() {
        isBlocked = false
        parked = [:]
        presentNext()
    }

    /// What an earlier run showed and nobody answered.
    private func alertsOnScreen() throws(SQLiteError) -> [(alert: Alert, place: AlertPlace)] {
        var alerts: [(alert: Alert, place: AlertPlace)] = []
        for (number, place) in try database.alerts.unanswered() {
            guard let entry = try database.inbox.entry(number), let app = try database.apps.app(id: entry.appID),
                let payload = try database.shownPayload(of: entry, texts(entry.appID))
            else { continue }
            alerts.append((Alert(entry, app, payload, sound: nil), place))
        }
        return alerts
    }

    // MARK: One after the other

    /// Whether there is something that shows alerts, even if it refuses one for a moment.
    var canShow: Bool { presenter?.isAvailable ?? false }

    func presentNext() {
        guard !isPresenting, !retry.isWaiting else { return }
        do {
            try leaveSurplus()
            while !isPresenting, !retry.isWaiting, !(isBlocked && canShow) {
                // First what is older, so that a newer one with its collapse id replaces it.
                if canShow, let number = returning.first {
                    guard hasRoomNow() else { return }
                    try presentAgain(number)
                } else {
                    guard let index = nextIndex(), hasRoomNow() else { return }
                    try present(at: index)
                }
            }
        } catch {
            retry.failed(error)
        }
    }

    /// The first that can be presented now; a hook may have come since one was found to have none.
    private func nextIndex() -> Int? {
        if canShow { return waiting.indices.first }
        return waiting.firstIndex { number in
            guard let appID = parked[number] else { return true }
            return hooks?.hasHook(for: appID) ?? false
        }
    }

    private func present(at index: Int) throws(SQLiteError) {
        let number = waiting.remove(at: index)
        do {
            try present(number)
        } catch {
            putBack(number)
            throw error
        }
    }

    private func putBack(_ number: Int64) {
        waiting.insert(number, at: waiting.firstIndex { $0 > number } ?? waiting.endIndex)
    }

    private func leaveSurplus() throws(SQLiteError) {
        let surplus = waiting.prefix(max(0, waiting.count - Self.waitingCountMax))
        guard !surplus.isEmpty else { return }
        try database.transaction { () throws(SQLiteError) in
            for entry in surplus { try database.suppress(entry, .tooMany) }
        }
        waiting.removeFirst(surplus.count)
        onOutcome?()
        onChange?()
    }

    /// Whether this second has room; otherwise a timer comes back.
    private func hasRoomNow() -> Bool {
        let now = loop.monotonicNanoseconds
        recentStarts.removeAll { now &- $0 >= 1_000_000_000 }
        guard recentStarts.count >= Self.perSecondMax, let oldest = recentStarts.first else { return true }
        guard timer == nil else { return false }
        timer = loop.schedule(after: .nanoseconds(Int64(clamping: 1_000_000_000 - (now - oldest)))) { [weak self] in
            self?.timer = nil
            self?.presentNext()
        }
        return false
    }

    /// Claims an entry and presents it; settings may have changed since it came, so they decide again.
    private func present(_ number: Int64) throws(SQLiteError) {
        let claimed = try database.transaction { () throws(SQLiteError) in try claim(number) }
        onChange?()
        parked[number] = nil
        guard let (entry, app, claimedAlert, decision) = claimed else { return }
        recentStarts.append(loop.monotonicNanoseconds)
        guard let style = decision.alert else {
            if let sound = decision.sound { sounds?.play(sound, appID: app.appID, appName: app.name) }
            return finish(number, .shown(playsSound: true), app, sound: nil, reason: TraceStep.soundOnly.word)
        }
        guard let presenter else {
            return finish(number, runHook(entry, .unavailable("nothing here shows alerts")), app, sound: decision.sound)
        }
        var alert = claimedAlert
        (alert.sound, alert.style) = (decision.sound, style)
        isPresenting = true
        presenter.present(alert) { [weak self] presented in
            guard let self else { return }
            isPresenting = false
            finish(number, runHook(entry, presented), app, sound: decision.sound)
            presentNext()
        }
    }

    /// What a presenter needs of an entry, without the sound.
    func alert(
        _ entry: InboxEntry, _ app: RegisteredApp, _ payload: Payload, _ decision: Decision
    ) throws(SQLiteError) -> Alert {
        var alert = Alert(entry, app, payload, sound: nil)
        if entry.threadID != nil { alert.earlierCount = try database.inbox.unansweredCount(inThreadOf: entry.entry) }
        if decision.hidesTexts { alert.hideTexts() }
        return alert
    }

    /// The hook of an alert runs when it is on the screen, and in the place of a screen where there is none.
    private func runHook(_ entry: InboxEntry, _ presented: AlertPresented) -> AlertPresented {
        // What is refused for a moment is shown later, and its hook runs then.
        if case .unavailable = presented, canShow { return presented }
        guard hooks?.run(entry) == true, case .unavailable = presented else { return presented }
        return .shown(playsSound: false)
    }

    private func claim(
        _ number: Int64
    ) throws(SQLiteError) -> (InboxEntry, RegisteredApp, Alert, Decision)? {
        guard let entry = try database.inbox.entry(number), entry.state == .waiting else { return nil }
        guard let payload = try database.shownPayload(of: entry, texts(entry.appID)) else {
            try database.suppress(number, .unreadable)
            onOutcome?()
            return nil
        }
        let app = try database.apps.app(id: entry.appID)
        let decision = try database.decide(payload, for: app, circumstances())
        try database.inbox.setEffects(decision.effectsText, of: number)
        guard let app, decision.needsPresentation else {
            try database.suppress(number, decision.suppression ?? .switchedOff)
            onOutcome?()
            return nil
        }
        _ = try database.inbox.move(number, from: [.waiting], to: .claimed)
        return (entry, app, try alert(entry, app, payload, decision), decision)
    }

    func circumstances() throws(SQLiteError) -> Circumstances {
        try database.settings.circumstances(nowUnixMilliseconds: WallClock.unixMilliseconds(), desk: desk())
    }

    private func finish(
        _ number: Int64, _ presented: AlertPresented, _ app: RegisteredApp, sound: Sound?, reason: String? = nil
    ) {
        if !presented.playsSound, let sound { sounds?.play(sound, appID: app.appID, appName: app.name) }
        retry.write { [weak self] () throws(SQLiteError) in try self?.settle(number, presented, app, reason) }
    }

    /// Writes what became of an entry.
    private func settle(
        _ number: Int64, _ presented: AlertPresented, _ app: RegisteredApp, _ reason: String?
    ) throws(SQLiteError) {
        switch presented {
        case .shown:
            try database.transaction { () throws(SQLiteError) in
                let isShown = try database.finish(number, from: [.claimed], to: .shown, .shown, reason: reason)
                if isShown, let note = try database.filters.row(of: number)?.note, !note.isEmpty {
                    try database.inbox.setReason(note, of: number)
                }
            }
            onOutcome?()
        case .inDoubt:
            try database.transaction { () throws(SQLiteError) in
                _ = try database.inbox.move(number, from: [.claimed], to: .shown, reason: AlertPresented.doubt)
            }
        case .unavailable(let reason):
            let isBack = try database.transaction { () throws(SQLiteError) in
                try database.inbox.move(number, from: [.claimed], to: .waiting, reason: reason)
            }
            // One that was withdrawn meanwhile is no longer claimed.
            guard isBack else { break }
            if canShow { isBlocked = true } else { parked[number] = app.appID }
            putBack(number)
        }
        onChange?()
    }
}

extension Alert {
    /// What a presenter needs of an entry.
    init(_ entry: InboxEntry, _ app: RegisteredApp, _ payload: Payload, sound: Sound?) {
        self.init(
            entry: entry.entry, appID: app.appID, appName: app.name, icon: app.icon, title: entry.title,
            subtitle: entry.subtitle, body: entry.body, viewLabel: payload.actionLabel,
            urgency: payload.interruptionLevel == .passive ? 0 : payload.interruptionLevel == .critical ? 2 : 1,
            collapseID: entry.replacementKey, sound: sound)
        threadID = entry.threadID
        if viewLabel != nil { actions = app.manifest.category(payload.category)?.actions ?? [] }
    }
}

extension InboxEntry {
    /// By what a newer one takes its place on the screen; nil when none does.
    ///
    /// That of a channel, and that of bytes which are no UTF-8, begin with NUL, which no header field holds, so that no
    /// provider's collapse id is the same.
    var replacementKey: String? {
        if let channel { return "\0channel \(channel)" }
        return collapseID.map { String(validating: $0, as: UTF8.self) ?? "\0bytes \(Hex.string($0))" }
    }
}
