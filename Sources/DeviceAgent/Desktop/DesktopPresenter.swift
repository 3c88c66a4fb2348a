// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import LinuxDesktop
internal import PushAPI
internal import PushDBus
internal import PushNet

/// Shows alerts through the desktop's notification server, `org.freedesktop.Notifications`.
///
/// It runs on the connection's thread. Alerts are passed to the server one at a time, because only the answer for one
/// contains the ID that its replacement must name:
///
/// ```
///   present ──▶ waiting ──▶ query capabilities ───────▶ Notify ──▶ shown ──▶ action, close or withdrawal
///                                    │ no server           │ refused             ▲
///                                    └──────▶ unavailable ◀┘ └──▶ in doubt ───────┘
/// ```
///
/// An alert is in doubt when the server does not answer in time: it may be on the screen, and is not sent again. A late
/// answer resolves the doubt.
///
/// After `unavailable` the delegate gets `presenterBecameAvailable` when a server appears. If a server is there or can
/// be started and refused all the same, it gets that call after a delay that doubles up to one minute.
final class DesktopPresenter: AlertPresenter {
    /// The maximum number of alerts that wait for the notification server; the next one is refused.
    static let waitingCountMax = 64
    /// The maximum number of tracked alerts on the screen; the oldest is closed for the next one.
    static let shownCountMax = 256
    /// The time limit for the notification server's answer; after it, an alert that was sent is in doubt.
    static let answerTimeout: Duration = .seconds(10)
    /// The time after which a late answer is no longer accepted.
    static let lateAnswerTimeout: Duration = .seconds(600)

    /// The first delay after a refusal, in milliseconds: Plasma refuses an identical alert within a second.
    static let retryDelayMilliseconds = 2000

    /// An alert that waits for the notification server or for its answer.
    struct Request {
        var alert: Alert
        var completion: (AlertPresented) -> Void
        /// Whether the alert was withdrawn while the notification server's answer was outstanding.
        var isWithdrawn = false
    }

    /// An alert on the screen.
    struct Shown {
        var alert: Alert
        /// A number that increases with each alert; the smallest is the oldest.
        var serial: UInt64
        /// The token that the notification server sent just before the action it belongs to.
        var activationToken: String?
    }

    weak var delegate: (any AlertPresenterDelegate)?
    let connection: BusConnection
    private let loop: EventLoop
    let answerTimeout: Duration
    private let sounds: AppSounds
    private let icons: AppIcons
    /// The ID of the bus; the same unique name on another bus belongs to another program.
    private let busID: String
    /// The notification server's unique name; nil while no server runs.
    var owner: String?
    /// Whether the bus can start a notification server.
    private let isActivatable: Bool
    /// The error of the last attempt to start a notification server; nil if the next attempt may be made.
    var startFailure: String?
    /// The owner's name and capabilities, once they are known.
    var notificationServer: NotificationServer?
    var shown: [UInt32: Shown] = [:]
    /// Entries whose alerts the notification server may show now or later.
    var inDoubt: Set<EntryID> = []
    /// The banners that sum up bursts.
    private(set) lazy var summaries = SummaryBanners(
        loop: loop, show: { [weak self] in self?.showSummary($0, replacing: $1, $2) },
        close: { [weak self] in self?.close($0) })
    var muter: (any AppMuter)? {
        get { summaries.muter }
        set { summaries.muter = newValue }
    }
    private var waiting: [Request] = []
    /// Whether the first alert of `waiting` has been sent to the notification server.
    private var isBusy = false
    private var serial: UInt64 = 0
    /// Runs until the delegate may try again.
    private var retryTimer: TimerID?
    /// The number of refusals since an alert was last shown.
    private var refusalCount = 0

    /// Subscribes to the notification server's signals, so that no click is missed; sends no call to the server yet.
    ///
    /// - Parameters:
    ///   - connection: The session bus, driven by the caller.
    ///   - loop: The loop that drives it.
    ///   - environment: The environment that names the folders of apps' sounds and icons.
    ///   - answerTimeout: The time limit for the server's answer; later alerts wait for it.
    /// - Throws: `BusError` when the bus refuses the subscriptions.
    init(
        connection: BusConnection, loop: EventLoop, environment: [String: String],
        answerTimeout: Duration = DesktopPresenter.answerTimeout
    ) throws(BusError) {
        self.answerTimeout = answerTimeout
        self.connection = connection
        self.loop = loop
        sounds = AppSounds(environment: environment)
        icons = AppIcons(environment: environment)
        isActivatable = try connection.isActivatable(NotificationServer.busName)
        busID = try connection.busID()
        try subscribe()
        owner = try connection.owner(of: NotificationServer.busName)
    }

    deinit { if let retryTimer { loop.cancel(retryTimer) } }

    var isAvailable: Bool { owner != nil || isActivatable && startFailure == nil }

    func present(_ alert: Alert, completion: @escaping (AlertPresented) -> Void) {
        if owner == nil, let startFailure { return refuse(completion, startFailure) }
        if isOneTooMany(alert) {
            summaries.add([alert.entry], of: alert, isUrgent: true)
            return completion(.summedUp)
        }
        guard waiting.count < DesktopPresenter.waitingCountMax else {
            refuse(completion, "\(waiting.count) alerts are already waiting for the notification server")
            return
        }
        waiting.append(Request(alert: alert, completion: completion))
        presentNext()
    }

    func sumUp(_ entries: [EntryID], of app: Alert) {
        if owner != nil { summaries.add(entries, of: app) }
    }

    /// Returns whether an alert is a new banner of an app that has shown many just before; critical ones never count
    /// as too many.
    private func isOneTooMany(_ alert: Alert) -> Bool {
        guard let notificationServer, owner != nil, alert.style == .banner, alert.urgency < 2 else { return false }
        return summaries.isBurst(of: alert.appID) && replacedID(by: alert, at: notificationServer) == 0
    }

    func withdraw(entries: [EntryID]) {
        let entries = Set(entries)
        summaries.withdraw(entries)
        inDoubt.subtract(entries)
        let withdrawn = shown.filter { entries.contains($0.value.alert.entry) }
        for id in withdrawn.keys {
            shown[id] = nil
            close(id)
        }
        if !withdrawn.isEmpty { delegate?.alertsLeft(withdrawn.values.map(\.alert.entry)) }
        if isBusy, let first = waiting.first, entries.contains(first.alert.entry) { waiting[0].isWithdrawn = true }
        let isWithdrawn: (Request) -> Bool = { entries.contains($0.alert.entry) }
        let unseen = waiting.dropFirst(isBusy ? 1 : 0).filter(isWithdrawn)
        waiting = Array(waiting.prefix(isBusy ? 1 : 0)) + waiting.dropFirst(isBusy ? 1 : 0).filter { !isWithdrawn($0) }
        for request in unseen { refuse(request.completion, "withdrawn before it was shown") }
    }

    /// Closes alerts that a newer alert of the same app, shown by another presenter, replaces.
    func withdraw(replacedBy alert: Alert) {
        for id in shown.filter({ $0.value.alert.isReplaced(by: alert) }).keys { takeOff(id) }
    }

    /// Adopts the alerts that an earlier run showed on the present notification server.
    ///
    /// Alerts of another server of this session are lost; those of earlier sessions have left the screen. An adopted
    /// alert that has left the screen in the meantime does no harm, because servers do not reuse IDs.
    ///
    /// - Parameter alerts: The unanswered alerts with their places.
    func adopt(_ alerts: [(alert: Alert, location: AlertLocation)]) {
        let (ours, others) = (
            alerts.filter { $0.location.owner == ownerID }, alerts.filter { $0.location.owner != ownerID }
        )
        for (alert, location) in ours.suffix(DesktopPresenter.shownCountMax) {
            serial += 1
            shown[location.number] = Shown(alert: alert, serial: serial)
        }
        let ofThisSession = others.filter { $0.location.owner.utf8.starts(with: "\(busID) ".utf8) }.map(\.alert.entry)
        let ofEarlierOnes = others.map(\.alert.entry).filter { !ofThisSession.contains($0) }
        if !ofEarlierOnes.isEmpty { delegate?.alertsLeft(ofEarlierOnes) }
        if !ofThisSession.isEmpty { delegate?.alertsLost(ofThisSession) }
        if !ours.isEmpty { reportAlertsLostWithSender(serialMax: serial) }
    }

    /// Reports adopted alerts as lost if the notification server forgets them together with their sender.
    ///
    /// When they are presented again, they replace the old ones, if the server still has them.
    ///
    /// - Parameter serialMax: The serial number of the last adopted alert.
    private func reportAlertsLostWithSender(serialMax: UInt64) {
        askServer { [weak self] answer in
            guard let self, let notificationServer = try? answer.get(),
                notificationServer.quirks.contains(.forgetsSender)
            else { return }
            delegate?.alertsLost(entries { $0.serial <= serialMax })
            delegate?.presenterBecameAvailable()
        }
    }

    /// Forgets alerts that are no longer on the screen, though the user has not answered them.
    func loseAll(where isLost: (Shown) -> Bool) {
        let lost = entries(where: isLost)
        shown = shown.filter { !isLost($0.value) }
        if !lost.isEmpty { delegate?.alertsLost(lost) }
    }

    private func entries(where isWanted: (Shown) -> Bool) -> [EntryID] {
        shown.values.filter(isWanted).sorted { $0.serial < $1.serial }.map(\.alert.entry)
    }

    /// An ID of the notification server that is unique across buses; nil while no server runs.
    private var ownerID: String? { owner.map { "\(busID) \($0)" } }

    // MARK: Sending

    private func presentNext() {
        guard !isBusy, !waiting.isEmpty else { return }
        isBusy = true
        askServer { [weak self] answer in
            switch answer {
            case .success(let notificationServer): self?.notify(notificationServer)
            case .failure(let error): self?.refuseAll(error)
            }
        }
    }

    private func notify(_ notificationServer: NotificationServer) {
        guard let request = waiting.first else { return }
        let notification = notification(of: request.alert, at: notificationServer)
        let replacedID = replacedID(by: request.alert, at: notificationServer)
        var isOverdue = false
        let timer = loop.schedule(after: answerTimeout) { [weak self] in
            isOverdue = true
            self?.leaveInDoubt(replacing: replacedID, playsSound: notification.playsSound)
        }
        call(
            "Notify", notification.arguments(replacing: replacedID), timeout: DesktopPresenter.lateAnswerTimeout
        ) { [weak self] answer in
            guard let self else { return }
            if isOverdue { return answeredLate(DesktopPresenter.number(answer), request.alert) }
            loop.cancel(timer)
            notified(
                DesktopPresenter.number(answer), replacing: replacedID, playsSound: notification.playsSound)
        }
    }

    private func notification(of alert: Alert, at notificationServer: NotificationServer) -> DesktopNotification {
        DesktopNotification(
            alert: alert, notificationServer: notificationServer, soundFile: soundFile(of: alert),
            iconFile: notificationServer.quirks.contains(.findsFewIcons) ? alert.icon.flatMap(icons.file) : nil)
    }

    private func showSummary(
        _ alert: Alert, replacing id: UInt32, _ completion: @escaping (Result<UInt32, BusError>) -> Void
    ) {
        askServer { [weak self] answer in
            switch answer {
            case .success(let notificationServer):
                guard let self else { return }
                let notification = notification(of: alert, at: notificationServer)
                call("Notify", notification.arguments(replacing: id)) { completion(DesktopPresenter.number($0)) }
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    /// Handles the timeout of `Notify`: the notification server may still show the alert, and the next one need not
    /// wait.
    private func leaveInDoubt(replacing replacedID: UInt32, playsSound: Bool) {
        let request = waiting.removeFirst()
        isBusy = false
        note(request.alert, replacing: replacedID)
        if !request.isWithdrawn { inDoubt.insert(request.alert.entry) }
        request.completion(.inDoubt(playsSound: playsSound || request.isWithdrawn))
        presentNext()
    }

    private static func number(_ answer: Result<[BusValue], BusError>) -> Result<UInt32, BusError> {
        answer.map { $0.first?.integerValue.flatMap { UInt32(exactly: $0) } ?? 0 }
    }

    private func notified(_ answer: Result<UInt32, BusError>, replacing replacedID: UInt32, playsSound: Bool) {
        let request = waiting.removeFirst()
        isBusy = false
        switch answer {
        // The notification server accepted the alert, but sent no ID by which it can be found.
        case .success(0): request.completion(.inDoubt(playsSound: playsSound || request.isWithdrawn))
        case .success(let id):
            refusalCount = 0
            keep(request.alert, id, replacing: replacedID)
            note(request.alert, replacing: replacedID)
            if request.isWithdrawn { takeOff(id) }
            request.completion(.shown(playsSound: playsSound || request.isWithdrawn))
        case .failure(let error): refuse(request.completion, DesktopPresenter.explanation(of: error))
        }
        presentNext()
    }

    private func note(_ alert: Alert, replacing replacedID: UInt32) {
        if alert.style == .banner, replacedID == 0 { summaries.noteBanner(of: alert.appID) }
    }

    func keep(_ alert: Alert, _ id: UInt32, replacing replacedID: UInt32) {
        // A notification server that did not replace the earlier alert still shows it.
        if replacedID != id { takeOff(replacedID) }
        if shown[id] == nil, shown.count >= DesktopPresenter.shownCountMax { takeOffOldest() }
        serial += 1
        shown[id] = Shown(alert: alert, serial: serial)
        if let ownerID { delegate?.alertShown(alert.entry, at: AlertLocation(owner: ownerID, number: id)) }
    }

    /// Closes an alert without reporting an outcome.
    private func takeOff(_ id: UInt32) {
        guard let alert = shown.removeValue(forKey: id)?.alert else { return }
        close(id)
        delegate?.alertsLeft([alert.entry])
    }

    private func takeOffOldest() {
        guard let oldest = shown.min(by: { $0.value.serial < $1.value.serial })?.key else { return }
        close(oldest)
        end(oldest, .expired)
    }

    /// Refuses all waiting alerts, because no notification server can be reached.
    private func refuseAll(_ error: BusError) {
        let refused = waiting
        waiting = []
        isBusy = false
        let reason = DesktopPresenter.explanation(of: error)
        if owner == nil, isActivatable { startFailure = reason }
        for request in refused { refuse(request.completion, reason) }
        presentNext()
    }

    /// Refuses an alert, and schedules the time when the delegate may try again.
    private func refuse(_ completion: (AlertPresented) -> Void, _ reason: String) {
        if owner != nil || isActivatable, retryTimer == nil {
            let delayMilliseconds = DesktopPresenter.retryDelayMilliseconds << min(refusalCount, 5)
            refusalCount += 1
            retryTimer = loop.schedule(after: .milliseconds(min(delayMilliseconds, 60_000))) { [weak self] in
                self?.retryTimer = nil
                self?.startFailure = nil
                self?.delegate?.presenterBecameAvailable()
            }
        }
        completion(.unavailable(reason))
    }

    private func replacedID(by alert: Alert, at notificationServer: NotificationServer) -> UInt32 {
        let same = shown.first { $0.value.alert.entry == alert.entry || hasSame(\.collapseID, $0.value.alert, alert) }
        if let same { return same.key }
        // On a notification server without a list, the alerts of a thread share one window.
        guard !notificationServer.keepsList else { return 0 }
        return shown.first { hasSame(\.threadID, $0.value.alert, alert) }?.key ?? 0
    }

    func hasSame(_ key: KeyPath<Alert, String?>, _ earlier: Alert, _ alert: Alert) -> Bool {
        guard let value = alert[keyPath: key], let earlierValue = earlier[keyPath: key] else { return false }
        return earlierValue.utf8.elementsEqual(value.utf8) && earlier.appID == alert.appID
    }

    private func soundFile(of alert: Alert) -> String? {
        guard case .named(let name) = alert.sound else { return nil }
        return sounds.file(name, appID: alert.appID)
    }

    private static func explanation(of error: BusError) -> String {
        guard error.name == BusError.serviceUnknownName else { return "\(error.name): \(error.message)" }
        return "No notification server runs in this session, and none can be started. Install one, such as dunst."
    }
}
