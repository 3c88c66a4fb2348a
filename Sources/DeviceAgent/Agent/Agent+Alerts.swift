// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import LinuxDesktop
internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQLite

/// The panel's requests: listing and answering the alerts that wait for an answer, and opening apps.
extension Agent {
    /// An alert that waits for an answer in the panel.
    package struct WaitingAlert: Sendable, Equatable {
        package var alert: Alert
        package var receivedUnixMilliseconds: Int64
    }

    /// Returns the alerts that wait for an answer, in the order in which they are shown.
    ///
    /// Of alerts that look the same, only the first is listed.
    ///
    /// - Parameter caller: The caller's unique name on the bus.
    /// - Returns: The alerts. Texts are hidden while the screen is locked, unless the user allows previews for the app.
    /// - Throws: `failed` when the database refuses.
    package func waitingAlerts(for caller: String) throws(AgentRefusal) -> [WaitingAlert] {
        var distinct: [WaitingAlert] = []
        for alert in try unhiddenAlerts() where !distinct.contains(where: { $0.alert.looksLike(alert.alert) }) {
            distinct.append(alert)
        }
        if environment.desk().isLocked { distinct = try distinct.map(hidingTexts) }
        environment.panel?.listed(by: caller)
        return distinct
    }

    /// Applies the user's answer to an alert and to all alerts that look the same; notifies the app once.
    ///
    /// A newer alert may have replaced this one in the meantime. The answer still counts, so that a reply that took an
    /// hour to write is not lost.
    ///
    /// - Parameters:
    ///   - number: The number of the inbox entry.
    ///   - outcome: The user's answer.
    /// - Throws: `unknownEntry` if no such alert waits, `badValue` if the answer does not fit the alert.
    package func answerAlert(_ number: Int64, _ outcome: AlertOutcome) throws(AgentRefusal) {
        let alerts = try unhiddenAlerts().map(\.alert)
        let waiting = alerts.first { $0.entry == number }
        let answered = if let waiting { waiting } else { try replacedAlert(number) }
        guard let panel = environment.panel, let alert = answered else {
            throw AgentRefusal(.unknownEntry, "No alert \(number) waits for an answer.")
        }
        try Self.check(outcome, alert)
        let twins = alerts.filter { $0.entry != number && $0.looksLike(alert) }
        self.alert(number, ended: outcome)
        for twin in twins {
            if case .view = outcome {
                finish(twin.entry, to: .viewed, .viewed)
            } else {
                finish(twin.entry, to: .closed, .closed)
            }
        }
        panel.answered([number] + twins.map(\.entry))
    }

    /// Opens the app with a notification from the inbox, and marks the entry as read.
    ///
    /// Each call opens the app again.
    ///
    /// - Parameters:
    ///   - number: The number of the inbox entry.
    ///   - activationToken: The token that lets the app raise its window.
    ///   - completion: Called once, with the error if the app did not open.
    package func openEntry(
        _ number: Int64, activationToken: String?, completion: @escaping (Result<Void, AgentRefusal>) -> Void
    ) {
        do throws(AgentRefusal) {
            guard let entry = try inboxEntry(number) else { throw .unknownEntry(number) }
            guard !entry.appID.isEmpty else { throw .notOpened("No app was registered for '\(entry.topic)'.") }
            guard let opener = environment.opener else { throw .notOpened("nothing here opens apps") }
            let isAnswer = finish(number, to: .viewed, .viewed)
            _ = try markRead(number, appID: "")
            presentations.withdraw([number])
            opener.open(
                appID: entry.appID, notification: entry.notificationJSON, action: nil, activationToken: activationToken
            ) { [weak self] result in
                // Only the first answer sets the reason: an existing one, such as why it was not shown, is more useful.
                if case .failure(let error) = result, isAnswer {
                    self?.note(error.failure.reason(error.text), on: number)
                }
                completion(Self.noted(result, appID: entry.appID))
            }
        } catch {
            completion(.failure(error))
        }
    }

    /// Opens an app without a notification.
    package func openApp(
        _ appID: String, activationToken: String?, completion: @escaping (Result<Void, AgentRefusal>) -> Void
    ) {
        do throws(AgentRefusal) {
            let app = try asking { () throws(SQLiteError) in try database.apps.app(id: appID) }
            guard app != nil else { throw .unknownApp(appID) }
            guard let opener = environment.opener else { throw .notOpened("nothing here opens apps") }
            opener.launch(appID: appID, activationToken: activationToken) { result in
                completion(Self.noted(result, appID: appID))
            }
        } catch {
            completion(.failure(error))
        }
    }

    /// Notifies the observer when the screen was locked or unlocked, because that hides or shows texts.
    package func lockChanged() {
        if environment.panel?.entries.isEmpty == false { observer?.alertsChanged() }
    }

    /// Withdraws alerts from the panel that the user's settings no longer allow; the inbox keeps them.
    func withdrawUnwantedAlerts() throws(AgentRefusal) {
        let unwanted = try asking { () throws(SQLiteError) in
            let circumstances = try presentations.circumstances()
            var unwanted: [Int64] = []
            for (entry, app, payload) in try storedAlerts()
            where try database.decide(payload, for: app, circumstances).alert == nil {
                unwanted.append(entry.entry)
            }
            return unwanted
        }
        if !unwanted.isEmpty { presentations.withdraw(unwanted) }
    }

    /// Notifies the observer at the end of the turn, once for all changes of the turn.
    func alertsChanged() {
        guard !isAlertsChangeDue else { return }
        isAlertsChangeDue = true
        loop.atEndOfTurn { [weak self] in
            self?.isAlertsChangeDue = false
            self?.observer?.alertsChanged()
        }
    }

    // MARK: From the database

    /// Returns the waiting alerts with their texts, even if the screen is locked.
    private func unhiddenAlerts() throws(AgentRefusal) -> [WaitingAlert] {
        try asking { () throws(SQLiteError) in
            var alerts: [WaitingAlert] = []
            for (entry, app, payload) in try storedAlerts() {
                var alert = Alert(entry, app, payload, sound: nil)
                if entry.threadID != nil {
                    alert.earlierCount = try database.inbox.unansweredCount(inThreadOf: entry.entry)
                }
                alerts.append(
                    WaitingAlert(alert: alert, receivedUnixMilliseconds: entry.receivedUnixMilliseconds))
            }
            return alerts
        }
    }

    private func storedAlerts() throws(SQLiteError) -> [StoredAlert] {
        var alerts: [StoredAlert] = []
        for number in environment.panel?.entries ?? [] {
            if let entry = try database.inbox.entry(number), let alert = try storedAlert(entry) { alerts.append(alert) }
        }
        return alerts
    }

    private typealias StoredAlert = (entry: InboxEntry, app: RegisteredApp, payload: Payload)

    /// Returns an entry with its app and payload; nil when the app is not registered any more.
    private func storedAlert(_ entry: InboxEntry) throws(SQLiteError) -> StoredAlert? {
        guard let app = try database.apps.app(id: entry.appID),
            let payload = try database.shownPayload(of: entry, environment.texts(entry.appID))
        else { return nil }
        return (entry, app, payload)
    }

    /// Returns an unanswered alert that a newer one has replaced; nil for any other entry.
    private func replacedAlert(_ number: Int64) throws(AgentRefusal) -> Alert? {
        try asking { () throws(SQLiteError) in
            guard let entry = try database.inbox.entry(number), entry.state == .shown,
                try database.inbox.isReplaced(number), let alert = try storedAlert(entry)
            else { return nil }
            return Alert(alert.entry, alert.app, alert.payload, sound: nil)
        }
    }

    private func hidingTexts(_ waiting: WaitingAlert) throws(AgentRefusal) -> WaitingAlert {
        let isHidden = try asking { () throws(SQLiteError) in
            guard let app = try database.apps.app(id: waiting.alert.appID) else { return true }
            return try !database.settings.settings(of: app).showsPreview
        }
        var waiting = waiting
        if isHidden { waiting.alert.hideTexts() }
        return waiting
    }

    /// Validates an answer, which comes from another process.
    private static func check(_ outcome: AlertOutcome, _ alert: Alert) throws(AgentRefusal) {
        switch outcome {
        case .view where alert.viewLabel == nil:
            throw AgentRefusal(.badValue, "The alert \(alert.entry) has only an OK button.")
        case .action(let id, _, _) where !alert.actions.contains { $0.id.utf8.elementsEqual(id.utf8) }:
            throw AgentRefusal(.badValue, "The alert \(alert.entry) has no button '\(id)'.")
        case .action(_, let text?, _) where text.utf8.count > Limits.replyByteCountMax:
            throw AgentRefusal(.badValue, "A text is at most \(Limits.replyByteCountMax) bytes long.")
        case .view, .action, .dismissed, .expired: break
        }
    }

    private static func noted(_ result: Result<Void, AppOpenError>, appID: String) -> Result<Void, AgentRefusal> {
        result.mapError { error in
            agentLog.warning("app_not_opened", ["app": appID, "error": error.text])
            return .notOpened(error)
        }
    }
}

extension Alert {
    /// Whether the user cannot tell the two alerts apart.
    fileprivate func looksLike(_ other: Alert) -> Bool {
        appID.utf8.elementsEqual(other.appID.utf8) && texts.elementsEqual(other.texts) && actions == other.actions
    }

    private var texts: [[UInt8]?] { [title, subtitle, body, viewLabel].map { $0.map { Array($0.utf8) } } }
}
