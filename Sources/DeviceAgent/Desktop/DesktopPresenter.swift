// SPDX-License-Identifier: Apache-2.0

package import PushDBus
package import PushNet

/// Shows alerts by the desktop's notification server, `org.freedesktop.Notifications`.
///
/// One thread, that of the connection. Alerts are handed over one after the other, because only the answer to one says
/// which number a replacement of it must name:
///
/// ```
///   present ──▶ waiting ──▶ what can the server do? ──▶ Notify ──▶ shown ──▶ action, close or withdrawal
///                                    │ no server           │ refused             ▲
///                                    └──────▶ unavailable ◀┘ └──▶ in doubt ───────┘
/// ```
///
/// In doubt is what the server does not answer in time: it may be on the screen, and is not handed over again. A late
/// answer says that it is.
///
/// After `unavailable` the delegate hears `presenterBecameAvailable`: when a server comes, or, where one is there or can
/// be started and refused all the same, after a while that doubles up to a minute.
package final class DesktopPresenter: AlertPresenter {
    static let busName = "org.freedesktop.Notifications"
    static let path = "/org/freedesktop/Notifications"
    /// Alerts that wait for the server; the next is refused.
    static let waitingCountMax = 64
    /// Alerts on the screen that are kept track of; the oldest is taken off for one more.
    static let shownCountMax = 256
    /// A server that takes longer counts as none, and what it was given is in doubt.
    package static let answerTimeout: Duration = .seconds(10)
    /// After this no answer is waited for any more.
    static let lateAnswerTimeout: Duration = .seconds(600)

    /// The first wait after a refusal, in milliseconds: Plasma refuses what looks the same within a second.
    static let retryDelayMilliseconds = 2000

    /// An alert on its way to the server.
    struct Request {
        var alert: Alert
        var completion: (AlertPresented) -> Void
        /// Withdrawn while the server was at it.
        var isWithdrawn = false
    }

    /// An alert on the screen.
    struct Shown {
        var alert: Alert
        /// Counts up; the smallest is the oldest.
        var serial: UInt64
        /// Came just before the action that it belongs to.
        var activationToken: String?
    }

    package weak var delegate: (any AlertPresenterDelegate)?
    let connection: BusConnection
    private let loop: EventLoop
    let answerTimeout: Duration
    private let sounds: AppSounds
    private let icons: AppIcons
    /// The bus's own name; a unique name on another bus is another program's.
    private let busID: String
    /// The server's unique name; nil while there is none.
    var owner: String?
    /// Whether the bus can start a server.
    private let isActivatable: Bool
    /// Why no server could be started when one was needed last; nil while nothing speaks against trying.
    var startFailure: String?
    /// What is known of the present owner.
    var server: NotificationServer?
    var shown: [UInt32: Shown] = [:]
    /// Entries whose alerts the server may show, or may show yet.
    var inDoubt: Set<Int64> = []
    private var waiting: [Request] = []
    /// Whether the first of `waiting` is with the server.
    private var isBusy = false
    private var serial: UInt64 = 0
    /// Runs while the delegate waits to hear that it may try again.
    private var retryTimer: TimerID?
    /// Refusals since something was last shown.
    private var refusalCount = 0

    /// Subscribes to the server's signals, so that no click is missed; asks nothing of it yet.
    ///
    /// - Parameters:
    ///   - connection: The session bus, driven by the caller.
    ///   - loop: The loop that drives it.
    ///   - environment: Where apps' sounds and icons lie.
    ///   - answerTimeout: How long others wait while the server answers nothing.
    /// - Throws: `BusError` when the bus refuses the subscriptions.
    package init(
        connection: BusConnection, loop: EventLoop, environment: [String: String],
        answerTimeout: Duration = DesktopPresenter.answerTimeout
    ) throws(BusError) {
        self.answerTimeout = answerTimeout
        self.connection = connection
        self.loop = loop
        sounds = AppSounds(environment: environment)
        icons = AppIcons(environment: environment)
        isActivatable = try connection.isActivatable(DesktopPresenter.busName)
        busID = try connection.busID()
        try subscribe()
        owner = try connection.owner(of: DesktopPresenter.busName)
    }

    deinit { if let retryTimer { loop.cancel(retryTimer) } }

    package var isAvailable: Bool { owner != nil || isActivatable && startFailure == nil }

    package func present(_ alert: Alert, completion: @escaping (AlertPresented) -> Void) {
        if owner == nil, let startFailure { return refuse(completion, startFailure) }
        guard waiting.count < DesktopPresenter.waitingCountMax else {
            refuse(completion, "\(waiting.count) alerts wait for the notification server already")
            return
        }
        waiting.append(Request(alert: alert, completion: completion))
        presentNext()
    }

    package func withdraw(entries: [Int64]) {
        let entries = Set(entries)
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

    /// Takes off what a newer alert of the same app replaces elsewhere.
    func withdraw(replacedBy alert: Alert) {
        for id in shown.filter({ $0.value.alert.isReplaced(by: alert) }).keys { takeOff(id) }
    }

    /// Takes up what this server has shown already; what another one showed went with it, or with its session.
    ///
    /// One that left the screen meanwhile does no harm: servers give no number twice.
    package func adopt(_ alerts: [(alert: Alert, place: AlertPlace)]) {
        let (ours, others) = (alerts.filter { $0.place.owner == ownerID }, alerts.filter { $0.place.owner != ownerID })
        for (alert, place) in ours.suffix(DesktopPresenter.shownCountMax) {
            serial += 1
            shown[place.number] = Shown(alert: alert, serial: serial)
        }
        let ofThisSession = others.filter { $0.place.owner.utf8.starts(with: "\(busID) ".utf8) }.map(\.alert.entry)
        let ofEarlierOnes = others.map(\.alert.entry).filter { !ofThisSession.contains($0) }
        if !ofEarlierOnes.isEmpty { delegate?.alertsLeft(ofEarlierOnes) }
        if !ofThisSession.isEmpty { delegate?.alertsLost(ofThisSession) }
        if !ours.isEmpty { loseWhatLeftWithSender(serialMax: serial) }
    }

    /// Those that come back take their old places, if the server still has them.
    private func loseWhatLeftWithSender(serialMax: UInt64) {
        askServer { [weak self] answer in
            guard let self, let server = try? answer.get(), server.quirks.contains(.forgetsSender) else { return }
            delegate?.alertsLost(entries { $0.serial <= serialMax })
            delegate?.presenterBecameAvailable()
        }
    }

    /// Forgets alerts that are on the screen no longer, though nobody answered them.
    func loseAll(where isLost: (Shown) -> Bool) {
        let lost = entries(where: isLost)
        shown = shown.filter { !isLost($0.value) }
        if !lost.isEmpty { delegate?.alertsLost(lost) }
    }

    private func entries(where isWanted: (Shown) -> Bool) -> [Int64] {
        shown.values.filter(isWanted).sorted { $0.serial < $1.serial }.map(\.alert.entry)
    }

    /// The server among all that ever were; nil while there is none.
    private var ownerID: String? { owner.map { "\(busID) \($0)" } }

    // MARK: Handing over

    private func presentNext() {
        guard !isBusy, !waiting.isEmpty else { return }
        isBusy = true
        askServer { [weak self] answer in
            switch answer {
            case .success(let server): self?.notify(server)
            case .failure(let error): self?.refuseAll(error)
            }
        }
    }

    private func notify(_ server: NotificationServer) {
        guard let request = waiting.first else { return }
        let notification = DesktopNotification(
            alert: request.alert, server: server, soundFile: soundFile(of: request.alert),
            iconFile: server.quirks.contains(.findsFewIcons) ? request.alert.icon.flatMap(icons.file) : nil)
        let replacedID = replacedID(by: request.alert, at: server)
        var isOverdue = false
        let timer = loop.schedule(after: answerTimeout) { [weak self] in
            isOverdue = true
            self?.leaveInDoubt(playsSound: notification.playsSound)
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

    /// The server may show it, or may show it yet; the next one need not wait for that.
    private func leaveInDoubt(playsSound: Bool) {
        let request = waiting.removeFirst()
        isBusy = false
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
        // It took the alert, and says not how to find it.
        case .success(0): request.completion(.inDoubt(playsSound: playsSound || request.isWithdrawn))
        case .success(let id):
            refusalCount = 0
            keep(request.alert, id, replacing: replacedID)
            if request.isWithdrawn { takeOff(id) }
            request.completion(.shown(playsSound: playsSound || request.isWithdrawn))
        case .failure(let error): refuse(request.completion, DesktopPresenter.explanation(of: error))
        }
        presentNext()
    }

    func keep(_ alert: Alert, _ id: UInt32, replacing replacedID: UInt32) {
        // A server that did not replace still shows the alert before.
        if replacedID != id { takeOff(replacedID) }
        if shown[id] == nil, shown.count >= DesktopPresenter.shownCountMax { takeOffOldest() }
        serial += 1
        shown[id] = Shown(alert: alert, serial: serial)
        if let ownerID { delegate?.alertShown(alert.entry, at: AlertPlace(owner: ownerID, number: id)) }
    }

    /// Takes one off without an outcome.
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

    /// Nobody is there: none of the alerts that wait can be shown.
    private func refuseAll(_ error: BusError) {
        let refused = waiting
        waiting = []
        isBusy = false
        let reason = DesktopPresenter.explanation(of: error)
        if owner == nil, isActivatable { startFailure = reason }
        for request in refused { refuse(request.completion, reason) }
        presentNext()
    }

    /// Says no, and sees to it that the delegate hears when it may try again.
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

    private func replacedID(by alert: Alert, at server: NotificationServer) -> UInt32 {
        let same = shown.first { $0.value.alert.entry == alert.entry || hasSame(\.collapseID, $0.value.alert, alert) }
        if let same { return same.key }
        // A thread has one window, where the server keeps no list in which to find the others.
        guard !server.keepsList else { return 0 }
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
