// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import LinuxDesktop
internal import PushCore
internal import PushDBus
internal import PushNet

/// Shows alerts that wait for an answer in the panel, which is a process of its own.
///
/// It runs on the connection's thread. It tells the panel to show alerts, and the panel then fetches the list. An alert
/// counts as shown once the panel has fetched it; it stays in the list until it is answered, even if the panel ends.
///
/// ```
///   present ──▶ handed over ──ListAlerts──▶ shown ──▶ answer or withdrawal
///                  │ no panel, or it does not ask    │ the panel ended: it is started again
///                  ▼                                 ▼ after a few restarts
///              unavailable                          lost
/// ```
///
/// After `unavailable` and `lost`, the panel is not used for a while: `isAvailable` is false until then, or until a
/// panel appears.
final class PanelAlerts: AlertPresenter {
    /// The panel's bus name.
    static let busName = "org.posthorn.Panel"
    static let path = "/org/posthorn/Panel"

    /// The delays and time limits, which tests shorten.
    struct Times {
        /// The time limit for the panel to fetch an alert; see `Limits.panelFetchTimeout`.
        var fetchTimeout: Duration = Limits.panelFetchTimeout
        /// The delay before the first restart of the panel; see `Limits.panelRestartDelay`.
        var restartDelay: Duration = Limits.panelRestartDelay
        /// The time for which a panel that failed is not used; see `Limits.panelFailureBackoff`.
        var failureBackoff: Duration = Limits.panelFailureBackoff

        /// Uses the values of `Limits`.
        init() {}
    }

    /// The process of the panel.
    ///
    /// ```
    /// absent ──the panel ended with alerts──▶ starting ──timer──▶ absent, and the bus starts the panel
    ///    ▲                                        │
    ///    └──── the panel ended ──── running ◀─────┘ a panel took the name
    /// ```
    private enum PanelProcess {
        case absent
        /// No panel runs; the timer starts it.
        case starting(TimerID)
        /// A panel has the bus name.
        ///
        /// `owner` is its unique name. `connections` are the unique names of other connections of its process, which
        /// may fetch the list on another than its named one.
        case running(owner: String, connections: Set<String>)

        /// The panel's unique name; nil while no panel runs.
        var owner: String? {
            if case .running(let owner, _) = self { owner } else { nil }
        }
    }

    /// An alert that waits for its answer.
    private struct Waiting {
        var alert: Alert
        /// The pending handover; nil once the panel has fetched the alert.
        var handover: Handover?
    }

    /// The handover of an alert that the panel has not fetched yet.
    private final class Handover {
        let completion: (AlertPresented) -> Void
        var timer: TimerID?
        /// The number of calls to the panel since the handover began.
        var callCount = 0

        init(_ completion: @escaping (AlertPresented) -> Void) { self.completion = completion }
    }

    weak var delegate: (any AlertPresenterDelegate)?
    /// Called when the list of waiting alerts has changed.
    var onChange: (() -> Void)?

    let connection: BusConnection
    private let loop: EventLoop
    private let times: Times
    private var process = PanelProcess.absent
    /// Whether the bus can start a panel.
    private var isActivatable: Bool
    /// The waiting alerts, in the order in which the panel shows them.
    private var waiting: [Waiting] = []
    /// The number of restarts since the user last answered an alert, or since the last use of `beginBackoff`.
    private var startCount = 0
    private var backoffTimer: TimerID?

    /// Watches for the panel; does not start it yet.
    ///
    /// - Parameters:
    ///   - connection: The session bus, driven by the caller.
    ///   - loop: The loop that drives it.
    ///   - times: The delays and time limits.
    /// - Throws: `BusError` when the bus refuses the subscriptions.
    init(connection: BusConnection, loop: EventLoop, times: Times = Times()) throws(BusError) {
        self.connection = connection
        self.loop = loop
        self.times = times
        isActivatable = try connection.isActivatable(Self.busName)
        try connection.watchOwner(of: Self.busName) { [weak self] owner in self?.panelChanged(to: owner) }
        if let owner = try connection.owner(of: Self.busName) { process = .running(owner: owner, connections: []) }
        let bus = "org.freedesktop.DBus"
        try connection.subscribe(sender: bus, path: nil, interface: bus, member: "ActivatableServicesChanged") {
            [weak self] signal in
            guard signal.sender == bus else { return }
            self?.askWhatCanBeStarted()
        }
    }

    deinit {
        for timer in [backoffTimer] + waiting.map(\.handover?.timer) {
            if let timer { loop.cancel(timer) }
        }
        if case .starting(let timer) = process { loop.cancel(timer) }
    }

    var isAvailable: Bool { backoffTimer == nil && (process.owner != nil || isActivatable) }

    /// The entries that wait for an answer, in the order in which the panel shows them.
    var entries: [EntryID] { waiting.map(\.alert.entry) }

    /// Whether another alert can wait.
    ///
    /// A waiting alert is never dropped for a newer one.
    var hasRoom: Bool { waiting.count < Limits.panelAlertCountMax }

    func present(_ alert: Alert, completion: @escaping (AlertPresented) -> Void) {
        guard isAvailable else { return completion(.unavailable("no panel runs, and none can be started")) }
        guard hasRoom || position(of: alert) != nil else {
            return completion(.unavailable("too many alerts wait in the panel"))
        }
        let handover = Handover(completion)
        handover.timer = loop.schedule(after: times.fetchTimeout) { [weak self] in self?.isOverdue(handover) }
        enqueue(Waiting(alert: alert, handover: handover))
        // The location is stored before the user can answer, so that the next run of the agent finds the alert.
        delegate?.alertShown(alert.entry, at: .panel(alert.entry))
        onChange?()
        call()
    }

    func withdraw(entries: [EntryID]) {
        let entries = Set(entries)
        take { entries.contains($0.alert.entry) }
    }

    /// Withdraws alerts that a newer alert of the same app, shown by another presenter, replaces.
    func withdraw(replacedBy alert: Alert) { take { $0.alert.isReplaced(by: alert) } }

    /// Adopts the alerts of an earlier run if a panel runs; without one, they are lost.
    func adopt(_ alerts: [(alert: Alert, location: AlertLocation)]) {
        guard !alerts.isEmpty else { return }
        guard process.owner != nil else {
            delegate?.alertsLost(alerts.map(\.alert.entry))
            return
        }
        waiting += alerts.map { Waiting(alert: $0.alert) }
        onChange?()
        call()
    }

    // MARK: Requests of the panel

    /// Marks all waiting alerts as shown if the caller, which has fetched the list, is the panel.
    func listed(by caller: String) {
        let listed = waiting.compactMap(\.handover)
        guard case .running(let owner, let connections) = process, !listed.isEmpty else { return }
        if caller == owner || connections.contains(caller) { return show(listed) }
        askForProcess(owner) { [weak self] process in
            self?.askForProcess(caller) { callingProcess in
                guard process == callingProcess else { return }
                self?.show(listed, to: caller, of: owner)
            }
        }
    }

    /// Records another connection of the panel's process.
    private func show(_ listed: [Handover], to caller: String, of panel: String) {
        guard case .running(let owner, let connections) = process, owner == panel else { return }
        process = .running(owner: owner, connections: connections.union([caller]))
        show(listed)
    }

    private func show(_ listed: [Handover]) {
        // Withdrawn alerts are no longer in the list. A completion may present the next alert, so it is called last.
        var shown: [Handover] = []
        for index in waiting.indices {
            guard let handover = waiting[index].handover, listed.contains(where: { $0 === handover }) else { continue }
            waiting[index].handover = nil
            shown.append(handover)
        }
        for handover in shown { finish(handover, .shown(playsSound: false)) }
    }

    private func askForProcess(_ name: String, _ completion: @escaping (Int64) -> Void) {
        let bus = "org.freedesktop.DBus"
        connection.send(bus, "/org/freedesktop/DBus", bus, "GetConnectionUnixProcessID", [.string(name)]) { answer in
            if let process = try? answer.get().first?.integerValue { completion(process) }
        }
    }

    /// Removes alerts that the user has answered; their outcome is stored already.
    func answered(_ entries: [EntryID]) {
        startCount = 0
        withdraw(entries: entries)
    }

    // MARK: The list

    private func enqueue(_ newer: Waiting) {
        guard let index = position(of: newer.alert) else { return waiting.append(newer) }
        let older = waiting[index]
        waiting[index] = newer
        guard older.alert.entry != newer.alert.entry else { return }
        delegate?.alertsLeft([older.alert.entry])
        // The newer alert replaces the older one, which counts as shown without a sound.
        if let handover = older.handover { finish(handover, .shown(playsSound: true)) }
    }

    /// Returns the index of the alert's entry, or of the alert that it replaces; nil if there is neither.
    private func position(of alert: Alert) -> Int? {
        waiting.firstIndex { $0.alert.entry == alert.entry } ?? waiting.firstIndex { $0.alert.isReplaced(by: alert) }
    }

    /// Removes alerts from the list without an outcome.
    private func take(where isTaken: (Waiting) -> Bool) {
        let taken = waiting.filter(isTaken)
        guard !taken.isEmpty else { return }
        let wasFull = !hasRoom
        waiting.removeAll(where: isTaken)
        delegate?.alertsLeft(taken.map(\.alert.entry))
        onChange?()
        if wasFull, isAvailable { delegate?.presenterBecameAvailable() }
        for handover in taken.compactMap(\.handover) {
            finish(handover, .unavailable("withdrawn before it was shown"))
        }
    }

    private func finish(_ handover: Handover, _ presented: AlertPresented) {
        if let timer = handover.timer { loop.cancel(timer) }
        handover.timer = nil
        handover.completion(presented)
    }

    /// Removes the alerts that the panel has not fetched yet, and does not use the panel for a while.
    private func refuse(_ reason: String, where isRefused: (Handover) -> Bool) {
        let refused = waiting.filter { $0.handover.map(isRefused) ?? false }
        guard !refused.isEmpty else { return }
        waiting.removeAll { $0.handover.map(isRefused) ?? false }
        beginBackoff(reason)
        delegate?.alertsLeft(refused.map(\.alert.entry))
        onChange?()
        for handover in refused.compactMap(\.handover) { finish(handover, .unavailable(reason)) }
    }

    private func isOverdue(_ overdue: Handover) {
        overdue.timer = nil
        refuse("the panel did not fetch the alert in time") { $0 === overdue }
    }

    // MARK: The panel's process

    /// Tells the panel to show the list; the bus starts it if it does not run.
    private func call() {
        for handover in waiting.compactMap(\.handover) { handover.callCount += 1 }
        connection.send(
            Self.busName, Self.path, "org.freedesktop.Application", "ActivateAction",
            [.string("show-alerts"), .array("v", []), .dictionary([])], timeout: times.fetchTimeout
        ) { [weak self] answer in
            if case .failure(let error) = answer { self?.callFailed(error) }
        }
    }

    private func callFailed(_ error: BusError) {
        // A running panel may be slow: the handover has its own time limit, and the panel's end is reported separately.
        guard process.owner == nil else { return }
        if AppStarter.provesNotReceived(error) { refuse("the panel cannot be started: \(error.message)") { _ in true } }
        startAgain()
    }

    private func panelChanged(to newOwner: String?) {
        guard let newOwner else {
            if process.owner != nil { process = .absent }
            return startAgain()
        }
        let earlier = process
        process = .running(owner: newOwner, connections: [])
        if case .starting(let timer) = earlier {
            loop.cancel(timer)
            call()
        }
        if backoffTimer != nil { return endBackoff() }
        delegate?.presenterBecameAvailable()
    }

    /// Restarts a panel that ended before all alerts were answered: after growing delays, and a limited number of
    /// times.
    private func startAgain() {
        guard case .absent = process else { return }
        // One more attempt: the panel may have been about to exit when it was called.
        refuse("the panel exits immediately after its start: run posthorn-panel in a terminal to see the error") {
            $0.callCount > 1
        }
        guard !waiting.isEmpty else { return }
        guard startCount < Limits.panelStartCountMax else { return giveUp() }
        let timer = loop.schedule(after: times.restartDelay * (1 << startCount)) { [weak self] in
            guard let self, case .starting = process else { return }
            process = .absent
            guard !waiting.isEmpty else { return }
            startCount += 1
            agentLog.info("panel_started_again", ["alerts": "\(waiting.count)", "start": "\(startCount)"])
            call()
        }
        process = .starting(timer)
    }

    private func giveUp() {
        let reason =
            "the panel exited \(startCount + 1) times without an answer: "
            + "run posthorn-panel in a terminal to see the error"
        refuse(reason) { _ in true }
        beginBackoff(reason)
        let lost = entries
        waiting = []
        delegate?.alertsLost(lost)
        onChange?()
        delegate?.presenterBecameAvailable()
    }

    private func beginBackoff(_ reason: String) {
        guard backoffTimer == nil else { return }
        agentLog.warning("panel_rests", ["reason": reason])
        backoffTimer = loop.schedule(after: times.failureBackoff) { [weak self] in self?.endBackoff() }
    }

    private func endBackoff() {
        if let backoffTimer { loop.cancel(backoffTimer) }
        backoffTimer = nil
        startCount = 0
        delegate?.presenterBecameAvailable()
    }

    /// Updates whether the bus can start a panel, after one was installed or removed.
    private func askWhatCanBeStarted() {
        let bus = "org.freedesktop.DBus"
        connection.send(bus, "/org/freedesktop/DBus", bus, "ListActivatableNames", []) { [weak self] answer in
            guard let self, let names = try? answer.get().first?.arrayValue else { return }
            isActivatable = names.contains(.string(Self.busName))
            if isAvailable { delegate?.presenterBecameAvailable() }
        }
    }
}

extension AlertLocation {
    private static let panelOwner = "panel"

    /// Returns the location of an alert in the panel's list.
    ///
    /// The location's number is the lower half of the entry's number, which is unique within one inbox.
    ///
    /// - Parameter entry: The number of the inbox entry.
    /// - Returns: The location.
    static func panel(_ entry: EntryID) -> AlertLocation {
        AlertLocation(owner: panelOwner, number: UInt32(truncatingIfNeeded: entry.rawValue))
    }

    /// Whether the location is in the panel's list; the owner of a notification server's location contains a space.
    var isPanel: Bool { owner.utf8.elementsEqual(AlertLocation.panelOwner.utf8) }
}

extension Alert {
    /// Returns whether a newer alert replaces this one on the screen.
    func isReplaced(by newer: Alert) -> Bool {
        guard let key = collapseID, let newerKey = newer.collapseID else { return false }
        return key.utf8.elementsEqual(newerKey.utf8) && appID == newer.appID
    }
}
