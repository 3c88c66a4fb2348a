// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import PushCore
internal import PushNet
internal import PushSQL

/// Reminders: puts notifications off until a time that the user chose, and shows them again then.
///
/// ```
/// answered, shown or suppressed ──the time has come──▶ waiting ──▶ as PresentationQueue shows it
/// ```
///
/// The wall clock decides, so one timer by that clock waits for the next reminder. A reminder that became due while
/// the agent or the machine was off is shown at the next start.
package final class ReminderService {
    private let database: AgentDatabase
    private let environment: AgentEnvironment
    private let loop: EventLoop
    private let changes: ChangeNotifier
    private let failures: DatabaseFailures
    private let inbox: InboxService
    private let alerts: AlertService
    private let retry: StorageRetry
    /// The timer; nil until the first reminder.
    private var timer: WallTimer?
    /// The time after which the next attempt is made if the system has no timer left.
    private static let timerRetryPause: Duration = .seconds(60)

    init(_ context: AgentContext, _ inbox: InboxService, _ alerts: AlertService) {
        database = context.database
        environment = context.environment
        loop = context.loop
        changes = context.changes
        failures = context.failures
        self.inbox = inbox
        self.alerts = alerts
        retry = StorageRetry(loop: loop)
        retry.onFailure = { [failures] in failures.report($0) }
        retry.onRetry = { [weak self] in self?.showDue() }
    }

    deinit { timer?.stop() }

    /// Shows the reminders that became due since the last run, and waits for the next one.
    func resume() { showDue() }

    /// Returns the times of all reminders by entry.
    func times() throws(AgentRefusal) -> [EntryID: Timestamp] {
        let all = try failures.refusing { () throws(SQLError) in try database.reminders.all() }
        return Dictionary(uniqueKeysWithValues: all.map { ($0.entry, $0.time) })
    }

    /// Closes an entry's alert and shows the notification again at a time; it is on disk when this returns.
    ///
    /// - Parameters:
    ///   - number: The number of the inbox entry.
    ///   - time: The time; nil cancels the reminder.
    /// - Throws: `unknownEntry`, `unknownApp`, `badValue` for a time that is not in the next year or for an entry
    ///   without an alert, `tooMany` above the limit.
    func remind(of number: EntryID, at time: Timestamp?) throws(AgentRefusal) {
        guard let entry = try inbox.entry(number) else { throw .unknownEntry(number) }
        if let time {
            try check(time)
            try check(entry)
            guard try times().keys.filter({ $0 != number }).count < Limits.reminderCountMax else {
                throw AgentRefusal(.tooMany, "The maximum of \(Limits.reminderCountMax) reminders is reached.")
            }
        }
        try failures.refusing { () throws(SQLError) in
            try database.transaction { () throws(SQLError) in
                try database.reminders.set(time, of: number)
                if time != nil { _ = try database.inbox.markRead(number, appID: nil) }
            }
        }
        if time != nil { try alerts.close(number) }
        changes.inboxChanged()
        wait()
    }

    private func check(_ time: Timestamp) throws(AgentRefusal) {
        guard time > .now else {
            throw AgentRefusal(.badValue, "The time of a reminder must be in the future.")
        }
        guard time <= Timestamp.now.advanced(bySeconds: Limits.reminderDaysMax * 86_400) else {
            throw AgentRefusal(
                .badValue, "The time of a reminder must be within the next \(Limits.reminderDaysMax) days.")
        }
    }

    private func check(_ entry: InboxEntry) throws(AgentRefusal) {
        let (app, payload) = try failures.refusing { () throws(SQLError) in
            (
                try database.apps.app(id: entry.appID),
                try database.shownPayload(of: entry, environment.texts(entry.appID))
            )
        }
        guard app != nil else { throw .unknownApp(entry.appID) }
        guard payload?.alert != nil else {
            throw AgentRefusal(.badValue, "Entry \(entry.entry) has no alert to show again.")
        }
    }

    // MARK: The time

    private func showDue() {
        guard !retry.isWaiting else { return }
        do {
            let (due, unfiltered) = try database.transaction { () throws(SQLError) in
                (try database.takeDueReminders(now: .now), Set(try database.filters.due()))
            }
            if !due.isEmpty {
                changes.inboxChanged()
                inbox.presentAgain(due, unfiltered: unfiltered)
            }
            wait()
        } catch {
            retry.failed(error)
        }
    }

    /// Sets the timer to the next reminder; disarms it without reminders.
    private func wait() {
        do {
            let next = try database.reminders.all().first?.time
            guard next != nil || timer != nil else { return }
            setTimer(to: next)
        } catch {
            retry.failed(error)
        }
    }

    private func setTimer(to time: Timestamp?) {
        do throws(NetError) {
            if timer == nil { timer = try WallTimer(loop: loop) { [weak self] in self?.showDue() } }
            try timer?.set(unixMilliseconds: time?.unixMilliseconds)
        } catch {
            agentLog.warning("reminder_not_timed", ["error": "\(error)"])
            loop.schedule(after: Self.timerRetryPause) { [weak self] in self?.showDue() }
        }
    }
}
