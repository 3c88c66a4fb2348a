// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import LinuxDesktop
internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQL

/// Opens and wakes apps, and passes them the notifications and the buttons that the user chose.
final class OpeningService {
    private let database: AgentDatabase
    private let environment: AgentEnvironment
    private let presentations: PresentationQueue
    private let failures: DatabaseFailures
    private let inbox: InboxService
    private let answers: AnswerService

    /// The error of an agent without an app opener.
    private static let withoutBus =
        "this agent cannot open or call apps, because it has no session bus: run it in a desktop session"

    init(_ context: AgentContext, _ inbox: InboxService, _ answers: AnswerService) {
        database = context.database
        environment = context.environment
        presentations = context.presentations
        failures = context.failures
        self.inbox = inbox
        self.answers = answers
    }

    /// Opens the app once; the entry is stored as viewed before.
    func view(_ number: EntryID, _ action: ChosenAction? = nil, activationToken: String?) {
        guard answers.finish(number, to: .viewed, .viewed), let entry = inbox.entryToPass(number) else { return }
        guard let opener = environment.opener else {
            return inbox.note(OpenFailure.notStarted.reason(Self.withoutBus), on: number)
        }
        let completion: (Result<Void, AppOpenError>) -> Void = { [weak self] result in
            guard case .failure(let error) = result else { return }
            agentLog.warning("app_not_opened", ["app": entry.appID.text, "error": error.text])
            self?.inbox.note(error.failure.reason(error.text), on: number)
        }
        // A button that opens the app passes itself to it, and never opens the link.
        if action == nil, let link = link(of: entry) {
            return opener.open(link, activationToken: activationToken, completion: completion)
        }
        opener.open(
            appID: entry.appID, notification: entry.notificationJSON(with: action), action: action,
            activationToken: activationToken, completion: completion)
    }

    /// Returns the link that View opens for an entry; nil if View opens the app.
    private func link(of entry: InboxEntry) -> NotificationLink? {
        guard entry.url != nil else { return nil }
        do {
            guard let app = try database.apps.app(id: entry.appID) else { return nil }
            return ViewTarget(entry, app, schemes: environment.linkSchemes(app.appID)).link
        } catch {
            failures.report(error)
            return nil
        }
    }

    /// Handles a button of the app: calls the app in the background, or opens it as View does.
    ///
    /// The app is opened if the button is a foreground button, if the manifest no longer declares it, or if its text is
    /// missing.
    ///
    /// - Parameters:
    ///   - number: The number of the inbox entry.
    ///   - chosen: The button and the typed text.
    ///   - activationToken: The token that lets the app raise its window.
    func act(_ number: EntryID, _ chosen: ChosenAction, activationToken: String?) {
        if chosen.id == MessageButtons.viewID { return view(number, activationToken: activationToken) }
        if let button = messageButton(chosen.id, of: number) {
            return press(button, of: number, activationToken: activationToken)
        }
        guard let action = declaredAction(chosen.id, of: number), !action.isForeground,
            !(action.takesText && chosen.text == nil)
        else { return view(number, chosen, activationToken: activationToken) }
        guard answers.finish(number, to: .closed, .closed), let entry = inbox.entryToPass(number) else { return }
        guard let opener = environment.opener else {
            return inbox.note(OpenFailure.notStarted.reason(Self.withoutBus), on: number)
        }
        let notification = entry.notificationJSON(with: chosen)
        opener.act(appID: entry.appID, notification: notification, action: chosen) { [weak self] result in
            switch result {
            case .success: self?.inbox.note("\(action.title): passed to the app", on: number)
            case .failure(let error):
                agentLog.warning("action_not_passed", ["app": entry.appID.text, "error": error.text])
                self?.inbox.note(error.failure.reason("\(action.title): \(error.text)"), on: number)
            }
        }
    }

    /// Has the effect of a button that the notification brought with it.
    private func press(_ button: Payload.Button, of number: EntryID, activationToken: String?) {
        switch button.effect {
        case .open(let link):
            guard answers.finish(number, to: .viewed, .viewed) else { return }
            guard let opener = environment.opener else {
                return inbox.note(OpenFailure.notStarted.reason(Self.withoutBus), on: number)
            }
            opener.open(link, activationToken: activationToken) { [weak self] result in
                guard case .failure(let error) = result else { return }
                self?.inbox.note(error.failure.reason(error.text), on: number)
            }
        case .request(let request):
            guard answers.finish(number, to: .closed, .closed), let sender = environment.buttonRequests else { return }
            sender.send(request) { [weak self] problem in
                if let problem { agentLog.warning("button_request_failed", ["error": problem]) }
                self?.inbox.note("\(button.title): \(problem ?? "sent")", on: number)
            }
        }
    }

    /// Returns the button of a notification for which its app declares none.
    private func messageButton(_ id: String, of number: EntryID) -> Payload.Button? {
        do {
            guard let entry = try database.inbox.entry(number), let app = try database.apps.app(id: entry.appID),
                let payload = try database.shownPayload(of: entry, environment.texts(entry.appID)),
                app.manifest.category(payload.category)?.actions.isEmpty ?? true
            else { return nil }
            return MessageButtons.button(id, of: payload)
        } catch {
            failures.report(error)
            return nil
        }
    }

    /// Wakes an app in the background.
    ///
    /// Nothing happens if the master switch is off or the app's manifest no longer asks for background wakes.
    ///
    /// - Parameters:
    ///   - wake: The app and the notification that wakes it.
    ///   - completion: Called when the app has finished or failed, if the result is true.
    /// - Returns: Whether the app was called.
    func wake(_ wake: BackgroundWake, _ completion: @escaping () -> Void) -> Bool {
        guard let opener = environment.opener, let entry = inbox.entryToPass(wake.entry), mayWake(wake.appID) else {
            return false
        }
        opener.wake(appID: wake.appID, notification: entry.notificationJSON) { [weak self] result in
            self?.noteWake(of: entry, result)
            completion()
        }
        return true
    }

    private func mayWake(_ appID: AppID) -> Bool {
        do {
            guard try database.settings.isOn(.master) else { return false }
            return try database.apps.app(id: appID)?.manifest.wakesInBackground == true
        } catch {
            failures.report(error)
            return false
        }
    }

    /// Writes the result of the wake into the inbox entry if the notification had nothing to show.
    private func noteWake(of entry: InboxEntry, _ result: Result<Void, AppOpenError>) {
        let isBackgroundOnly = entry.reason.utf8.elementsEqual(SuppressionReason.nothingToShow.rawValue.utf8)
        switch result {
        case .success:
            agentLog.info("app_woken", ["app": entry.appID.text])
            if isBackgroundOnly { inbox.note("woke-app", on: entry.entry) }
        case .failure(let error):
            agentLog.warning("app_not_woken", ["app": entry.appID.text, "error": error.text])
            if isBackgroundOnly { inbox.note("the app was not woken: \(error.text)", on: entry.entry) }
        }
    }

    /// Returns the button as the manifest declares it now; nil if the manifest no longer declares it.
    ///
    /// If the result is nil, the caller opens the app, because the app may still know the button.
    ///
    /// - Parameters:
    ///   - id: The button's ID.
    ///   - number: The number of the inbox entry.
    /// - Returns: The button.
    private func declaredAction(_ id: String, of number: EntryID) -> AppManifest.Action? {
        do {
            guard let entry = try database.inbox.entry(number), let app = try database.apps.app(id: entry.appID),
                let payload = try database.shownPayload(of: entry, environment.texts(entry.appID))
            else { return nil }
            let actions = app.manifest.category(payload.category)?.actions ?? []
            return actions.first { $0.id.utf8.elementsEqual(id.utf8) }
        } catch {
            failures.report(error)
            return nil
        }
    }

    // MARK: Requests of clients

    /// Opens the app with a notification from the inbox, or its link, and marks the entry as read.
    ///
    /// Each call opens the app again.
    ///
    /// - Parameters:
    ///   - number: The number of the inbox entry.
    ///   - activationToken: The token that lets the app raise its window.
    /// - Throws: The refusal if the app did not open.
    func openEntry(_ number: EntryID, activationToken: String?) async throws(AgentRefusal) {
        guard let entry = try inbox.entry(number) else { throw .unknownEntry(number) }
        guard !entry.appID.text.isEmpty else { throw .notOpened("No app was registered for '\(entry.topic)'.") }
        guard let opener = environment.opener else { throw .notOpened(Self.withoutBus) }
        let isAnswer = answers.finish(number, to: .viewed, .viewed)
        _ = try inbox.markRead(number, appID: nil)
        presentations.withdraw([number])
        let link = link(of: entry)
        let result = await withCheckedContinuation { continuation in
            let completion: (Result<Void, AppOpenError>) -> Void = { continuation.resume(returning: $0) }
            if let link { return opener.open(link, activationToken: activationToken, completion: completion) }
            opener.open(
                appID: entry.appID, notification: entry.notificationJSON, action: nil, activationToken: activationToken,
                completion: completion)
        }
        // Only the first answer sets the reason: an existing one, such as why it was not shown, is more useful.
        if case .failure(let error) = result, isAnswer { inbox.note(error.failure.reason(error.text), on: number) }
        try Self.noted(result, appID: entry.appID)
    }

    /// Opens an app without a notification.
    func openApp(_ appID: AppID, activationToken: String?) async throws(AgentRefusal) {
        let app = try failures.refusing { () throws(SQLError) in try database.apps.app(id: appID) }
        guard app != nil else { throw .unknownApp(appID) }
        guard let opener = environment.opener else { throw .notOpened(Self.withoutBus) }
        let result = await withCheckedContinuation { continuation in
            opener.launch(appID: appID, activationToken: activationToken) { continuation.resume(returning: $0) }
        }
        try Self.noted(result, appID: appID)
    }

    private static func noted(_ result: Result<Void, AppOpenError>, appID: AppID) throws(AgentRefusal) {
        guard case .failure(let error) = result else { return }
        agentLog.warning("app_not_opened", ["app": appID.text, "error": error.text])
        throw .notOpened(error)
    }
}
