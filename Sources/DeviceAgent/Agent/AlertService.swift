// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
package import AgentStore
internal import LinuxDesktop
internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQL

/// The alerts on the screen and in the panel, and the user's answers to them.
package final class AlertService {
    /// An alert that waits for an answer in the panel.
    struct WaitingAlert: Sendable, Equatable {
        var alert: Alert
        var receivedAt: Timestamp
    }

    private let database: AgentDatabase
    private let environment: AgentEnvironment
    private let link: ServerLink
    private let presentations: PresentationQueue
    private let changes: ChangeNotifier
    private let failures: DatabaseFailures
    private let answers: AnswerService
    private let openings: OpeningService

    init(_ context: AgentContext, _ answers: AnswerService, _ openings: OpeningService) {
        database = context.database
        environment = context.environment
        link = context.link
        presentations = context.presentations
        changes = context.changes
        failures = context.failures
        self.answers = answers
        self.openings = openings
    }

    /// Returns the alerts that wait for an answer, in the order in which they are shown.
    ///
    /// Of alerts that look the same, only the first is listed.
    ///
    /// - Parameter caller: The caller's unique name on the bus.
    /// - Returns: The alerts. Texts are hidden while the screen is locked, unless the user allows previews for the app.
    /// - Throws: `failed` when the database refuses.
    func waiting(for caller: String) throws(AgentRefusal) -> [WaitingAlert] {
        var distinct: [WaitingAlert] = []
        for alert in try unhiddenAlerts() where !distinct.contains(where: { $0.alert.looksLike(alert.alert) }) {
            distinct.append(alert)
        }
        if environment.currentDesktopState().isLocked { distinct = try distinct.map(hidingTexts) }
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
    func answer(_ number: EntryID, _ outcome: AlertOutcome) throws(AgentRefusal) {
        let alerts = try unhiddenAlerts().map(\.alert)
        let waiting = alerts.first { $0.entry == number }
        let answered = if let waiting { waiting } else { try replacedAlert(number) }
        guard let panel = environment.panel, let alert = answered else {
            throw AgentRefusal(.unknownEntry, "No alert \(number) waits for an answer.")
        }
        try Self.check(outcome, alert)
        let duplicates = alerts.filter { $0.entry != number && $0.looksLike(alert) }
        self.alert(number, ended: outcome)
        for duplicate in duplicates {
            if case .view = outcome {
                answers.finish(duplicate.entry, to: .viewed, .viewed)
            } else {
                answers.finish(duplicate.entry, to: .closed, .closed)
            }
        }
        panel.answered([number] + duplicates.map(\.entry))
    }

    /// Closes an alert wherever it is: on the screen, in the panel with all that look like it, or still waiting.
    func close(_ number: EntryID) throws(AgentRefusal) {
        if environment.panel?.entries.contains(number) == true {
            try answer(number, .dismissed)
        } else {
            answers.finish(number, to: .closed, .closed)
        }
        presentations.withdraw([number])
    }

    /// Notifies the observer when the screen was locked or unlocked, because that hides or shows texts.
    func lockChanged() {
        if environment.panel?.entries.isEmpty == false { changes.observer?.alertsChanged() }
    }

    /// Withdraws alerts from the panel that the user's settings no longer allow; the inbox keeps them.
    func withdrawUnwanted() throws(AgentRefusal) {
        let unwanted = try failures.refusing { () throws(SQLError) in
            let context = try presentations.presentationContext()
            var unwanted: [EntryID] = []
            for (entry, app, payload) in try storedAlerts()
            where try database.decide(payload, for: app, context).alert == nil {
                unwanted.append(entry.entry)
            }
            return unwanted
        }
        if !unwanted.isEmpty { presentations.withdraw(unwanted) }
    }

    // MARK: From the database

    /// Returns the waiting alerts with their texts, even if the screen is locked.
    private func unhiddenAlerts() throws(AgentRefusal) -> [WaitingAlert] {
        try failures.refusing { () throws(SQLError) in
            var alerts: [WaitingAlert] = []
            for (entry, app, payload) in try storedAlerts() {
                var alert = Alert(entry, app, payload, schemes: environment.linkSchemes(app.appID))
                if entry.threadID != nil {
                    alert.earlierCount = try database.inbox.unansweredCount(inThreadOf: entry.entry)
                }
                alerts.append(WaitingAlert(alert: alert, receivedAt: entry.receivedAt))
            }
            return alerts
        }
    }

    private func storedAlerts() throws(SQLError) -> [StoredAlert] {
        var alerts: [StoredAlert] = []
        for number in environment.panel?.entries ?? [] {
            if let entry = try database.inbox.entry(number), let alert = try storedAlert(entry) { alerts.append(alert) }
        }
        return alerts
    }

    private typealias StoredAlert = (entry: InboxEntry, app: RegisteredApp, payload: Payload)

    /// Returns an entry with its app and payload; nil if the app is not registered any more.
    private func storedAlert(_ entry: InboxEntry) throws(SQLError) -> StoredAlert? {
        guard let app = try database.apps.app(id: entry.appID),
            let payload = try database.shownPayload(of: entry, environment.texts(entry.appID))
        else { return nil }
        return (entry, app, payload)
    }

    /// Returns an unanswered alert that a newer one has replaced; nil for any other entry.
    private func replacedAlert(_ number: EntryID) throws(AgentRefusal) -> Alert? {
        try failures.refusing { () throws(SQLError) in
            guard let entry = try database.inbox.entry(number), entry.state == .shown,
                try database.inbox.isReplaced(number), let alert = try storedAlert(entry)
            else { return nil }
            let schemes = environment.linkSchemes(alert.app.appID)
            return Alert(alert.entry, alert.app, alert.payload, schemes: schemes)
        }
    }

    private func hidingTexts(_ waiting: WaitingAlert) throws(AgentRefusal) -> WaitingAlert {
        let isHidden = try failures.refusing { () throws(SQLError) in
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
}

extension AlertService: AlertPresenterDelegate {
    /// Handles the end of an alert: the user's answer, or its expiration on the screen.
    package func alert(_ entry: EntryID, ended outcome: AlertOutcome) {
        switch outcome {
        case .view(let token): openings.view(entry, activationToken: token)
        case .action(let id, let text, let token):
            openings.act(entry, ChosenAction(id: id, text: text), activationToken: token)
        case .dismissed: answers.finish(entry, to: .closed, .closed)
        case .expired: break
        }
    }

    /// Stores where the alert is on the screen, so that View, Close and clearing work after a restart.
    func alertShown(_ entry: EntryID, at location: AlertLocation) {
        noteAlerts { () throws(SQLError) in
            try database.alerts.save(location, of: entry)
            guard let row = try database.inbox.entry(entry), row.state == .shown,
                row.reason.utf8.elementsEqual(AlertPresented.doubt.utf8)
            else { return }
            // The notification server answered after the timeout: the alert is no longer in doubt.
            try database.inbox.setReason("", of: entry)
            try database.outbox.append(sequence: row.sequence, .shown)
        }
        link.setNeedsFlush()
    }

    /// Deletes the stored places of alerts that are no longer on the screen.
    func alertsLeft(_ entries: [EntryID]) {
        noteAlerts { () throws(SQLError) in try database.alerts.remove(entries) }
    }

    /// Presents lost alerts again if their style keeps them until they are answered.
    func alertsLost(_ entries: [EntryID]) { presentations.alertsLost(entries) }

    private func noteAlerts(_ body: () throws(SQLError) -> Void) {
        do {
            try database.transaction(body)
        } catch {
            failures.report(error)
        }
    }

    /// Resumes presenting alerts.
    func presenterBecameAvailable() { presentations.presenterBecameAvailable() }
}

extension Alert {
    /// Returns whether the user cannot tell the two alerts apart.
    fileprivate func looksLike(_ other: Alert) -> Bool {
        appID == other.appID && texts.elementsEqual(other.texts) && actions == other.actions
            && link == other.link && picture == other.picture
    }

    private var texts: [[UInt8]?] { [title, subtitle, body, viewLabel].map { $0.map { Array($0.utf8) } } }
}
