// SPDX-License-Identifier: Apache-2.0

internal import PushCore
package import PushDBus
package import PushNet

/// Keeps the alerts that wait for an answer in the panel, a process of its own.
///
/// One thread, that of the connection. The panel is asked to show alerts and then asks for them: what it got in its list is
/// shown, and stays in the list until it is answered, whatever becomes of the panel.
///
/// ```
///   present ──▶ handed over ──ListAlerts──▶ shown ──▶ answer or withdrawal
///                  │ no panel, or it does not ask    │ the panel ended: it is started again
///                  ▼                                 ▼ a few times in vain
///              unavailable                          lost
/// ```
///
/// After `unavailable` and `lost` the panel rests: `isAvailable` is false until the rest is over or somebody starts it.
package final class PanelAlerts: AlertPresenter {
    /// The panel's bus name.
    package static let busName = "org.posthorn.Panel"
    static let path = "/org/posthorn/Panel"

    /// What a test makes shorter.
    package struct Times {
        /// See `Limits.panelPatience`.
        package var patience: Duration = Limits.panelPatience
        /// See `Limits.panelPause`.
        package var pause: Duration = Limits.panelPause
        /// See `Limits.panelRest`.
        package var rest: Duration = Limits.panelRest

        /// Those of the limits.
        package init() {}
    }

    /// An alert that waits for its answer.
    private struct Waiting {
        var alert: Alert
        /// Until the panel has got it.
        var handover: Handover?
    }

    /// An alert that the panel is still to ask for.
    private final class Handover {
        let completion: (AlertPresented) -> Void
        var timer: TimerID?
        /// How often the panel was called since.
        var callCount = 0

        init(_ completion: @escaping (AlertPresented) -> Void) { self.completion = completion }
    }

    package weak var delegate: (any AlertPresenterDelegate)?
    /// Called when other alerts wait than before.
    package var onChange: (() -> Void)?

    private let connection: BusConnection
    private let loop: EventLoop
    private let times: Times
    /// The panel's unique name; nil while there is none.
    private var owner: String?
    /// Connections of the panel's process: the one that has the name need not be the one that asks.
    private var connections: Set<String> = []
    /// Whether the bus can start a panel.
    private var isActivatable: Bool
    /// What waits, in the order in which the panel shows it.
    private var waiting: [Waiting] = []
    /// Starts after which nobody answered.
    private var startCount = 0
    private var startTimer: TimerID?
    private var restTimer: TimerID?

    /// Watches for the panel; starts none yet.
    ///
    /// - Parameters:
    ///   - connection: The session bus, driven by the caller.
    ///   - loop: The loop that drives it.
    ///   - times: How long it waits for what.
    /// - Throws: `BusError` when the bus refuses the subscriptions.
    package init(connection: BusConnection, loop: EventLoop, times: Times = Times()) throws(BusError) {
        self.connection = connection
        self.loop = loop
        self.times = times
        isActivatable = try connection.isActivatable(Self.busName)
        try connection.watchOwner(of: Self.busName) { [weak self] owner in self?.panelChanged(to: owner) }
        owner = try connection.owner(of: Self.busName)
        let bus = "org.freedesktop.DBus"
        try connection.subscribe(sender: bus, path: nil, interface: bus, member: "ActivatableServicesChanged") {
            [weak self] signal in
            guard signal.sender == bus else { return }
            self?.askWhatCanBeStarted()
        }
    }

    deinit {
        for timer in [startTimer, restTimer] + waiting.map(\.handover?.timer) {
            if let timer { loop.cancel(timer) }
        }
    }

    package var isAvailable: Bool { restTimer == nil && (owner != nil || isActivatable) }

    /// The entries that wait for an answer, in the order in which the panel shows them.
    package var entries: [Int64] { waiting.map(\.alert.entry) }

    /// Whether one more can wait: nothing that waits is taken from the screen for what is newer.
    package var hasRoom: Bool { waiting.count < Limits.panelAlertCountMax }

    package func present(_ alert: Alert, completion: @escaping (AlertPresented) -> Void) {
        guard isAvailable else { return completion(.unavailable("no panel runs, and none can be started")) }
        guard hasRoom || place(of: alert) != nil else {
            return completion(.unavailable("too many alerts wait in the panel"))
        }
        let handover = Handover(completion)
        handover.timer = loop.schedule(after: times.patience) { [weak self] in self?.isOverdue(handover) }
        enqueue(Waiting(alert: alert, handover: handover))
        // Where the next run of the agent finds it, before anybody can answer it.
        delegate?.alertShown(alert.entry, at: .panel(alert.entry))
        onChange?()
        call()
    }

    package func withdraw(entries: [Int64]) {
        let entries = Set(entries)
        take { entries.contains($0.alert.entry) }
    }

    /// Takes a place on the screen from an alert that a newer one of its app replaces elsewhere.
    func withdraw(replacedBy alert: Alert) { take { $0.alert.isReplaced(by: alert) } }

    /// Takes up what waits in a panel that runs; without one, they are alerts that went with it.
    package func adopt(_ alerts: [(alert: Alert, place: AlertPlace)]) {
        guard !alerts.isEmpty else { return }
        guard owner != nil else {
            delegate?.alertsLost(alerts.map(\.alert.entry))
            return
        }
        waiting += alerts.map { Waiting(alert: $0.alert) }
        onChange?()
        call()
    }

    // MARK: What the panel asks and answers

    /// Somebody got the list of what waits; if it is the panel, all of it is shown.
    package func listed(by caller: String) {
        let listed = waiting.compactMap(\.handover)
        guard let owner, !listed.isEmpty else { return }
        if caller == owner || connections.contains(caller) { return show(listed) }
        askForProcess(owner) { [weak self] process in
            self?.askForProcess(caller) { callingProcess in
                guard process == callingProcess else { return }
                self?.show(listed, to: caller, of: owner)
            }
        }
    }

    /// The panel asks from one more connection.
    private func show(_ listed: [Handover], to caller: String, of panel: String) {
        guard panel == owner else { return }
        connections.insert(caller)
        show(listed)
    }

    private func show(_ listed: [Handover]) {
        // Withdrawn ones are not there any more. Finishing one may bring the next.
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

    /// The person answered alerts, which wait no longer; the outcome is written by then.
    package func answered(_ entries: [Int64]) {
        startCount = 0
        withdraw(entries: entries)
    }

    // MARK: The list

    private func enqueue(_ newer: Waiting) {
        guard let index = place(of: newer.alert) else { return waiting.append(newer) }
        let older = waiting[index]
        waiting[index] = newer
        guard older.alert.entry != newer.alert.entry else { return }
        delegate?.alertsLeft([older.alert.entry])
        // Who reads the newer one needs it no more.
        if let handover = older.handover { finish(handover, .shown(playsSound: true)) }
    }

    /// Where an alert stands already, or the one that it replaces.
    private func place(of alert: Alert) -> Int? {
        waiting.firstIndex { $0.alert.entry == alert.entry } ?? waiting.firstIndex { $0.alert.isReplaced(by: alert) }
    }

    /// Takes alerts out of the list, without an outcome.
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

    /// Gives up what the panel has not got yet.
    private func refuse(_ reason: String, where isRefused: (Handover) -> Bool) {
        let refused = waiting.filter { $0.handover.map(isRefused) ?? false }
        guard !refused.isEmpty else { return }
        waiting.removeAll { $0.handover.map(isRefused) ?? false }
        rest(reason)
        delegate?.alertsLeft(refused.map(\.alert.entry))
        onChange?()
        for handover in refused.compactMap(\.handover) { finish(handover, .unavailable(reason)) }
    }

    private func isOverdue(_ overdue: Handover) {
        overdue.timer = nil
        refuse("the panel did not ask for the alert") { $0 === overdue }
    }

    // MARK: The panel's process

    /// Asks the panel to show what waits; the bus starts it if it does not run.
    private func call() {
        for handover in waiting.compactMap(\.handover) { handover.callCount += 1 }
        connection.send(
            Self.busName, Self.path, "org.freedesktop.Application", "ActivateAction",
            [.string("show-alerts"), .array("v", []), .dictionary([])], timeout: times.patience
        ) { [weak self] answer in
            if case .failure(let error) = answer { self?.callFailed(error) }
        }
    }

    private func callFailed(_ error: BusError) {
        // One that runs may be slow: it has its time, and its end is told, too.
        guard owner == nil else { return }
        if AppLauncher.isNobodyThere(error) { refuse("the panel cannot be started: \(error.message)") { _ in true } }
        startAgain()
    }

    private func panelChanged(to newOwner: String?) {
        owner = newOwner
        connections = []
        guard newOwner != nil else { return startAgain() }
        if startTimer != nil {
            stopStarting()
            call()
        }
        if restTimer != nil { return endRest() }
        delegate?.presenterBecameAvailable()
    }

    /// Starts a panel that ended before all was answered: soon at first, a few times, then never.
    private func startAgain() {
        guard startTimer == nil else { return }
        // One try more: a panel may have been about to end by itself.
        refuse("the panel ends as soon as it is started") { $0.callCount > 1 }
        guard !waiting.isEmpty else { return }
        guard startCount < Limits.panelStartCountMax else { return giveUp() }
        startTimer = loop.schedule(after: times.pause * (1 << startCount)) { [weak self] in
            guard let self else { return }
            startTimer = nil
            guard !waiting.isEmpty else { return }
            startCount += 1
            agentLog.info("panel_started_again", ["alerts": "\(waiting.count)", "start": "\(startCount)"])
            call()
        }
    }

    private func stopStarting() {
        if let startTimer { loop.cancel(startTimer) }
        startTimer = nil
    }

    private func giveUp() {
        let reason = "the panel ended \(startCount + 1) times before anybody answered an alert"
        refuse(reason) { _ in true }
        rest(reason)
        let lost = entries
        waiting = []
        delegate?.alertsLost(lost)
        onChange?()
        delegate?.presenterBecameAvailable()
    }

    private func rest(_ reason: String) {
        guard restTimer == nil else { return }
        agentLog.warning("panel_rests", ["reason": reason])
        restTimer = loop.schedule(after: times.rest) { [weak self] in self?.endRest() }
    }

    private func endRest() {
        if let restTimer { loop.cancel(restTimer) }
        restTimer = nil
        startCount = 0
        delegate?.presenterBecameAvailable()
    }

    /// A panel was installed, or removed.
    private func askWhatCanBeStarted() {
        let bus = "org.freedesktop.DBus"
        connection.send(bus, "/org/freedesktop/DBus", bus, "ListActivatableNames", []) { [weak self] answer in
            guard let self, let names = try? answer.get().first?.arrayValue else { return }
            isActivatable = names.contains(.string(Self.busName))
            if isAvailable { delegate?.presenterBecameAvailable() }
        }
    }
}

extension AlertPlace {
    private static let panelOwner = "panel"

    /// In the panel's list.
    ///
    /// The number is the entry's lower half: no two entries of one inbox have the same.
    static func panel(_ entry: Int64) -> AlertPlace {
        AlertPlace(owner: panelOwner, number: UInt32(truncatingIfNeeded: entry))
    }

    /// Whether it is the panel's list; a notification server's owner has a blank in it.
    var isPanel: Bool { owner.utf8.elementsEqual(AlertPlace.panelOwner.utf8) }
}

extension Alert {
    /// Whether a newer alert takes its place on the screen.
    func isReplaced(by newer: Alert) -> Bool {
        guard let key = collapseID, let newerKey = newer.collapseID else { return false }
        return key.utf8.elementsEqual(newerKey.utf8) && appID.utf8.elementsEqual(newer.appID.utf8)
    }
}
