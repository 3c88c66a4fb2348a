// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQL

/// Presents alerts again that the user has not answered and that were lost with their notification server.
extension PresentationQueue {
    /// The maximum number of lost alerts that are presented again; the oldest others stay in the inbox only.
    static let returningCountMax = 20
    /// The maximum number of times that one alert is presented again: it may be what crashes its server.
    static let returnCountMax = 5

    /// Queues lost alerts, to be presented again when a presenter is available.
    ///
    /// Until then their places stay in the database, so that the agent's next run finds them, too.
    ///
    /// - Parameter entries: The numbers of the inbox entries.
    func alertsLost(_ entries: [EntryID]) {
        let lost = returning + entries.filter { returnCounts[$0, default: 0] < Self.returnCountMax }
        returning = lost.suffix(Self.returningCountMax)
        let kept = Set(returning)
        forget((lost + entries).filter { !kept.contains($0) })
    }

    /// Presents an alert again, without a sound, if it is still to stay until it is answered.
    func presentAgain(_ number: EntryID) throws(SQLError) {
        let (alert, location) = try database.transaction { () throws(SQLError) in
            let location = try database.alerts.location(of: number)
            // Removed first: after a crash it is unknown whether the user saw the alert, so it is not presented again.
            try database.alerts.remove([number])
            return (try alertToReturn(number), location)
        }
        returning.removeAll { $0 == number }
        guard let alert, let presenter else { return }
        recentStarts.append(loop.now)
        if returnCounts.count >= 1000 { returnCounts = [:] }
        returnCounts[number, default: 0] += 1
        state = .presenting
        presenter.present(alert) { [weak self] presented in
            self?.state = .ready
            if case .unavailable = presented { self?.keep(returning: number, location) }
            self?.presentNext()
        }
    }

    /// Returns the alert to present again; nil if the entry, the app or the settings no longer require it.
    private func alertToReturn(_ number: EntryID) throws(SQLError) -> Alert? {
        guard let entry = try database.inbox.entry(number), entry.state == .shown, !entry.isRead,
            try !database.inbox.isReplaced(number), let app = try database.apps.app(id: entry.appID),
            let payload = try database.shownPayload(of: entry, texts(entry.appID))
        else { return nil }
        let decision = try database.decide(payload, for: app, presentationContext())
        guard decision.alert == .alert else { return nil }
        return try alert(entry, app, payload, decision)
    }

    private func keep(returning number: EntryID, _ location: AlertLocation?) {
        do {
            // An entry that was cleared meanwhile no longer exists.
            guard try database.inbox.entry(number)?.state == .shown else { return }
            // The user has not seen the alert: the agent's next run must find it, too.
            if let location {
                try database.transaction { () throws(SQLError) in try database.alerts.save(location, of: number) }
            }
        } catch {
            onFailure?(error)
        }
        if canShow(.alert) { state = .blocked }
        returning.insert(number, at: 0)
    }

    private func forget(_ entries: [EntryID]) {
        guard !entries.isEmpty else { return }
        do {
            try database.transaction { () throws(SQLError) in try database.alerts.remove(entries) }
        } catch {
            onFailure?(error)
        }
    }
}
