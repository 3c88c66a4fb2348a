// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushSQLite

/// Alerts that are to stay until they are answered come back when the notification server that showed them went.
extension PresentationQueue {
    /// Alerts of one server that come back; the oldest of more are left to the inbox.
    static let returningCountMax = 20
    /// How often one comes back: it may be what its server dies of.
    static let returnCountMax = 5

    /// Takes alerts that went with their server; they come back with the next one.
    ///
    /// Until then they stay in the table of alerts, so that the next run of the agent hears of them too.
    package func alertsLost(_ entries: [Int64]) {
        let lost = returning + entries.filter { returnCounts[$0, default: 0] < Self.returnCountMax }
        returning = lost.suffix(Self.returningCountMax)
        let kept = Set(returning)
        forget((lost + entries).filter { !kept.contains($0) })
    }

    /// Presents one again, silently, if it would still stay until it is answered.
    func presentAgain(_ number: Int64) throws(SQLiteError) {
        let (alert, place) = try database.transaction { () throws(SQLiteError) in
            let place = try database.alerts.place(of: number)
            // After a crash nobody knows whether it was seen: then it does not come back.
            try database.alerts.remove([number])
            return (try alertToReturn(number), place)
        }
        returning.removeAll { $0 == number }
        guard let alert, let presenter else { return }
        recentStarts.append(loop.monotonicNanoseconds)
        if returnCounts.count >= 1000 { returnCounts = [:] }
        returnCounts[number, default: 0] += 1
        isPresenting = true
        presenter.present(alert) { [weak self] presented in
            self?.isPresenting = false
            if case .unavailable = presented { self?.keep(returning: number, place) }
            self?.presentNext()
        }
    }

    /// What the screen has to show of an entry now; nil when it need not come back.
    private func alertToReturn(_ number: Int64) throws(SQLiteError) -> Alert? {
        guard let entry = try database.inbox.entry(number), entry.state == .shown, !entry.isRead,
            try !database.inbox.isReplaced(number), let app = try database.apps.app(id: entry.appID),
            let payload = try database.shownPayload(of: entry, texts(entry.appID))
        else { return nil }
        let decision = try database.decide(payload, for: app, circumstances())
        guard decision.alert == .alert else { return nil }
        return try alert(entry, app, payload, decision)
    }

    private func keep(returning number: Int64, _ place: AlertPlace?) {
        do {
            // One that was cleared meanwhile is no longer there.
            guard try database.inbox.entry(number)?.state == .shown else { return }
            // Nobody has seen it: the next run of the agent hears of it, too.
            if let place {
                try database.transaction { () throws(SQLiteError) in try database.alerts.save(place, of: number) }
            }
        } catch {
            onFailure?(error)
        }
        isBlocked = canShow(.alert)
        returning.insert(number, at: 0)
    }

    private func forget(_ entries: [Int64]) {
        guard !entries.isEmpty else { return }
        do {
            try database.transaction { () throws(SQLiteError) in try database.alerts.remove(entries) }
        } catch {
            onFailure?(error)
        }
    }
}
