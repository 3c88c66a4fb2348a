// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import LinuxDesktop
internal import PushCore
internal import PushDBus

/// Calls to the notification server and signals from it.
extension DesktopPresenter {
    /// Returns the notification server's name and capabilities; calls the server only if they are unknown or may have
    /// changed.
    func askServer(_ completion: @escaping (Result<NotificationServer, BusError>) -> Void) {
        if let notificationServer, !notificationServer.quirks.contains(.changesCapabilities) {
            return completion(.success(notificationServer))
        }
        if let notificationServer { return askCapabilities(ofServer: notificationServer.name, completion) }
        call("GetServerInformation") { [weak self] answer in
            switch answer {
            case .success(let values): self?.askCapabilities(ofServer: values.first?.stringValue ?? "", completion)
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    private func askCapabilities(
        ofServer name: String, _ completion: @escaping (Result<NotificationServer, BusError>) -> Void
    ) {
        call("GetCapabilities") { [weak self] answer in
            let notificationServer = answer.map { values in
                NotificationServer(
                    name: name, capabilities: Set((values.first?.arrayValue ?? []).compactMap(\.stringValue)))
            }
            self?.notificationServer = try? notificationServer.get()
            completion(notificationServer)
        }
    }

    /// Closes an alert; it may have left the screen already.
    func close(_ id: UInt32) { call("CloseNotification", [.uint32(id)]) { _ in } }

    func call(
        _ member: String, _ arguments: [BusValue] = [], timeout: Duration? = nil,
        _ completion: @escaping (Result<[BusValue], BusError>) -> Void
    ) {
        connection.send(
            NotificationServer.busName, NotificationServer.path, NotificationServer.busName, member, arguments,
            timeout: timeout ?? answerTimeout,
            completion: completion)
    }

    /// Handles an answer that came after the timeout, for an alert in doubt.
    func answeredLate(_ answer: Result<UInt32, BusError>, _ alert: Alert) {
        let isWanted = inDoubt.remove(alert.entry) != nil
        switch answer {
        case .success(0): break
        case .success(let id):
            let rival = shown.first { hasSame(\.collapseID, $0.value.alert, alert) }
            guard isWanted, rival.map({ $0.value.alert.entry < alert.entry }) ?? true else { return close(id) }
            keep(alert, id, replacing: rival?.key ?? 0)
        case .failure:
            // The notification server refused the alert, or lost it when it ended.
            guard isWanted else { return }
            delegate?.alertsLost([alert.entry])
            if owner != nil { delegate?.presenterBecameAvailable() }
        }
    }

    // MARK: Signals

    /// Subscribes to the notification server's signals and to changes of its owner.
    func subscribe() throws(BusError) {
        try connection.watchOwner(of: NotificationServer.busName) { [weak self] owner in self?.serverChanged(to: owner)
        }
        try subscribe("NotificationClosed") { presenter, id, detail in
            presenter.closed(id, reason: detail.integerValue)
        }
        try subscribe("ActivationToken") { presenter, id, detail in
            presenter.keepToken(detail.stringValue ?? "", for: id)
        }
        try subscribe("ActionInvoked") { presenter, id, detail in
            presenter.invoked(detail.stringValue ?? "", on: id)
        }
        try subscribe("NotificationReplied") { presenter, id, detail in
            presenter.replied(detail.stringValue ?? "", to: id)
        }
    }

    /// Subscribes to one signal; each has the alert's ID and one more argument.
    private func subscribe(
        _ member: String, _ handler: @escaping (DesktopPresenter, UInt32, BusValue) -> Void
    ) throws(BusError) {
        try connection.subscribe(
            sender: NotificationServer.busName, path: NotificationServer.path, interface: NotificationServer.busName,
            member: member
        ) {
            [weak self] signal in
            // Any program can send such a signal: only those of the notification server's owner count.
            guard let self, signal.sender == owner, signal.arguments.count >= 2 else { return }
            guard case .uint32(let id) = signal.arguments[0] else { return }
            handler(self, id, signal.arguments[1])
        }
    }

    /// Handles a notification server that appeared, ended or was replaced; IDs of the previous one are invalid.
    private func serverChanged(to newOwner: String?) {
        owner = newOwner
        notificationServer = nil
        startFailure = nil
        loseAll { _ in true }
        summaries.forgetAll()
        guard newOwner != nil else { return }
        delegate?.presenterBecameAvailable()
    }

    private func closed(_ id: UInt32, reason: Int64?) {
        if summaries.closed(id) { return }
        let byPerson: Int64 = 2
        end(id, reason == byPerson ? .dismissed : .expired)
    }

    private func keepToken(_ token: String, for id: UInt32) {
        guard let token = AlertOutcome.activationToken(token) else { return }
        if summaries.keepToken(token, for: id) { return }
        shown[id]?.activationToken = token
    }

    private func invoked(_ action: String, on id: UInt32) {
        if summaries.clicked(action, on: id) { return }
        guard let alert = shown[id] else { return }
        switch action {
        case "default" where alert.alert.viewLabel == nil: end(id, .dismissed)
        case "default", "view": end(id, .view(activationToken: alert.activationToken))
        case "close", "ok": end(id, .dismissed)
        case let key:
            let actions = alert.alert.actions
            guard let action = actions.first(where: { DesktopNotification.key(of: $0) == key }) else { return }
            end(id, .action(id: action.id, text: nil, activationToken: alert.activationToken))
        }
        // Some notification servers close an alert after its action, others do not.
        close(id)
    }

    /// Handles a typed reply; an empty or too long text opens the app instead.
    private func replied(_ text: String, to id: UInt32) {
        guard let alert = shown[id], let action = alert.alert.replyAction else { return }
        let isText = !text.isEmpty && text.utf8.count <= Limits.replyByteCountMax
        end(id, .action(id: action.id, text: isText ? text : nil, activationToken: alert.activationToken))
        close(id)
    }

    /// Reports the outcome of an alert, once.
    func end(_ id: UInt32, _ outcome: AlertOutcome) {
        guard let alert = shown.removeValue(forKey: id) else { return }
        delegate?.alert(alert.alert.entry, ended: outcome)
        delegate?.alertsLeft([alert.alert.entry])
    }
}
