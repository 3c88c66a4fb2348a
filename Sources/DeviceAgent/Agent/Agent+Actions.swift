// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import LinuxDesktop
internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQLite

extension Agent {
    /// Connects the callbacks of the filter queue to presentation, badges and the outbox.
    func joinFilters() {
        filters.onReady = { [weak self] in self?.presentations.entriesArrived($0) }
        filters.onBadge = { [weak self] badge, appID in self?.present(badge: badge, appID: appID) }
        filters.onFailure = { [weak self] in self?.databaseFailed($0) }
        filters.onTrouble = { appID, message in
            agentLog.warning("filter_failed", ["app": appID, "error": message])
        }
        filters.onChange = { [weak self] in
            self?.link?.outboxSender.setNeedsFlush()
            self?.inboxChanged()
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
    func act(_ number: Int64, _ chosen: ChosenAction, activationToken: String?) {
        guard let action = declaredAction(chosen.id, of: number), !action.isForeground,
            !(action.takesText && chosen.text == nil)
        else { return view(number, chosen, activationToken: activationToken) }
        guard finish(number, to: .closed, .closed), let entry = entryToHandOver(number) else { return }
        guard let opener = environment.opener else {
            return note(OpenFailure.notStarted.reason("nothing here reaches apps"), on: number)
        }
        let notification = entry.notificationJSON(with: chosen)
        opener.act(appID: entry.appID, notification: notification, action: chosen) { [weak self] result in
            switch result {
            case .success: self?.note("\(action.title): passed to the app", on: number)
            case .failure(let error):
                agentLog.warning("action_not_passed", ["app": entry.appID, "error": error.text])
                self?.note(error.failure.reason("\(action.title): \(error.text)"), on: number)
            }
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
        guard let opener = environment.opener, let entry = entryToHandOver(wake.entry), mayWake(wake.appID) else {
            return false
        }
        opener.wake(appID: wake.appID, notification: entry.notificationJSON) { [weak self] result in
            self?.noteWake(of: entry, result)
            completion()
        }
        return true
    }

    private func mayWake(_ appID: String) -> Bool {
        do {
            guard try database.settings.isOn(.master) else { return false }
            return try database.apps.app(id: appID)?.manifest.wakesInBackground == true
        } catch {
            databaseFailed(error)
            return false
        }
    }

    /// Writes the result of the wake into the inbox entry if the notification had nothing to show.
    private func noteWake(of entry: InboxEntry, _ result: Result<Void, AppOpenError>) {
        let isBackgroundOnly = entry.reason.utf8.elementsEqual(SuppressionReason.nothingToShow.rawValue.utf8)
        switch result {
        case .success:
            agentLog.info("app_woken", ["app": entry.appID])
            if isBackgroundOnly { note("woke-app", on: entry.entry) }
        case .failure(let error):
            agentLog.warning("app_not_woken", ["app": entry.appID, "error": error.text])
            if isBackgroundOnly { note("the app was not woken: \(error.text)", on: entry.entry) }
        }
    }

    /// Returns the button as the manifest declares it now; nil if the manifest no longer declares it.
    ///
    /// With nil the app is opened, because it may still know the button.
    ///
    /// - Parameters:
    ///   - id: The button's ID.
    ///   - number: The number of the inbox entry.
    /// - Returns: The button.
    private func declaredAction(_ id: String, of number: Int64) -> AppManifest.Action? {
        do {
            guard let entry = try database.inbox.entry(number), let app = try database.apps.app(id: entry.appID),
                let payload = try database.shownPayload(of: entry, environment.texts(entry.appID))
            else { return nil }
            let actions = app.manifest.category(payload.category)?.actions ?? []
            return actions.first { $0.id.utf8.elementsEqual(id.utf8) }
        } catch {
            databaseFailed(error)
            return nil
        }
    }
}
