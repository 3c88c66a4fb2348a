// SPDX-License-Identifier: Apache-2.0

package import AgentStore
internal import PushAPI
internal import PushCore
internal import PushSQLite
internal import PushNet

extension Agent: AlertPresenterDelegate {
    /// Handles the end of an alert: the user's answer, or its expiration on the screen.
    package func alert(_ entry: Int64, ended outcome: AlertOutcome) {
        switch outcome {
        case .view(let token): view(entry, activationToken: token)
        case .action(let id, let text, let token): act(entry, ChosenAction(id: id, text: text), activationToken: token)
        case .dismissed: finish(entry, to: .closed, .closed)
        case .expired: break
        }
    }

    /// Stores where the alert is on the screen, so that View, Close and clearing work after a restart.
    package func alertShown(_ entry: Int64, at place: AlertPlace) {
        noteAlerts { () throws(SQLiteError) in
            try database.alerts.save(place, of: entry)
            guard let row = try database.inbox.entry(entry), row.state == .shown,
                row.reason.utf8.elementsEqual(AlertPresented.doubt.utf8)
            else { return }
            // The notification server answered after the timeout: the alert is no longer in doubt.
            try database.inbox.setReason("", of: entry)
            try database.outbox.append(sequence: row.sequence, .shown)
        }
        link?.outboxSender.setNeedsFlush()
    }

    /// Deletes the stored places of alerts that are no longer on the screen.
    package func alertsLeft(_ entries: [Int64]) {
        noteAlerts { () throws(SQLiteError) in try database.alerts.remove(entries) }
    }

    /// Presents lost alerts again if their style keeps them until they are answered.
    package func alertsLost(_ entries: [Int64]) { presentations.alertsLost(entries) }

    private func noteAlerts(_ body: () throws(SQLiteError) -> Void) {
        do {
            try database.transaction(body)
        } catch {
            databaseFailed(error)
        }
    }

    /// Resumes presenting alerts.
    package func presenterBecameAvailable() { presentations.presenterBecameAvailable() }

    /// Opens the app once; the entry is stored as viewed before.
    func view(_ number: Int64, _ action: ChosenAction? = nil, activationToken: String?) {
        guard finish(number, to: .viewed, .viewed), let entry = entryToHandOver(number) else { return }
        guard let opener = environment.opener else {
            return note(OpenFailure.notStarted.reason("nothing here opens apps"), on: number)
        }
        opener.open(
            appID: entry.appID, notification: entry.notificationJSON(with: action), action: action,
            activationToken: activationToken
        ) { [weak self] result in
            guard case .failure(let error) = result else { return }
            agentLog.warning("app_not_opened", ["app": entry.appID, "error": error.text])
            self?.note(error.failure.reason(error.text), on: number)
        }
    }

    /// Returns one entry; nil when it was cleared or the database fails.
    func entryToHandOver(_ number: Int64) -> InboxEntry? {
        do {
            return try database.inbox.entry(number)
        } catch {
            databaseFailed(error)
            return nil
        }
    }

    /// Stores the user's answer.
    ///
    /// With a full disk the answer counts immediately and is written later, so that the user need not click twice.
    ///
    /// - Parameters:
    ///   - number: The number of the inbox entry.
    ///   - state: The new state of the entry.
    ///   - outcome: The outcome for the server.
    /// - Returns: Whether the answer counts; false if the entry was answered before.
    @discardableResult
    func finish(_ number: Int64, to state: InboxEntry.State, _ outcome: DeviceAPI.Outcome) -> Bool {
        guard !unwrittenAnswers.contains(number) else { return false }
        do {
            return try writeAnswer(number, state, outcome)
        } catch {
            unwrittenAnswers.insert(number)
            answers.failed(error) { [weak self] () throws(SQLiteError) in
                _ = try self?.writeAnswer(number, state, outcome)
                self?.unwrittenAnswers.remove(number)
            }
            // With an I/O error or a corrupt database the agent ends, so the answer must not take effect.
            return !error.isInputOutput && !error.isCorrupt
        }
    }

    private func writeAnswer(
        _ number: Int64, _ state: InboxEntry.State, _ outcome: DeviceAPI.Outcome
    ) throws(SQLiteError) -> Bool {
        let isMoved = try database.transaction { () throws(SQLiteError) in
            try database.finish(number, from: [.waiting, .claimed, .shown], to: state, outcome)
        }
        guard isMoved else { return false }
        link?.outboxSender.setNeedsFlush()
        inboxChanged()
        return true
    }

    func note(_ reason: String, on number: Int64) {
        do {
            try database.inbox.setReason(reason, of: number)
        } catch {
            databaseFailed(error)
        }
        inboxChanged()
    }

    // MARK: Requests of clients

    /// Returns the newest entries, newest first.
    package func inbox(countMax: Int64) throws(AgentRefusal) -> [InboxEntry] {
        try asking { () throws(SQLiteError) in try database.inbox.newest(countMax: countMax) }
    }

    /// Returns one entry; nil if the number is unknown.
    package func inboxEntry(_ number: Int64) throws(AgentRefusal) -> InboxEntry? {
        try asking { () throws(SQLiteError) in try database.inbox.entry(number) }
    }

    /// Returns the entries that match a query, newest first.
    package func inbox(matching query: InboxSearch.Query) throws(AgentRefusal) -> [InboxEntry] {
        try asking { () throws(SQLiteError) in
            try database.search.entries(matching: query, appNames: try database.appNames())
        }
    }

    /// Returns the numbers of all matching entries of a kind, grouped by app ID, newest first.
    package func inboxNumbers(
        matching text: String, _ kind: InboxSearch.Kind
    ) throws(AgentRefusal) -> [String: [Int64]] {
        var query = InboxSearch.Query()
        (query.text, query.kind, query.countMax) = (text, kind, .max)
        let found = try asking { () throws(SQLiteError) in
            try database.search.numbers(matching: query, appNames: try database.appNames())
        }
        return Dictionary(grouping: found, by: \.appID).mapValues { $0.map(\.entry) }
    }

    /// Returns the number of unread entries of each app.
    package func unreadCounts() throws(AgentRefusal) -> [(appID: String, count: Int64)] {
        try asking { () throws(SQLiteError) in try database.inbox.unreadCounts() }
    }

    /// Marks an entry as read, or all entries of an app, or all entries.
    ///
    /// - Parameters:
    ///   - number: The entry; 0 for all entries of the app.
    ///   - appID: The app; empty for all apps.
    /// - Returns: The number of entries that were unread.
    /// - Throws: `unknownEntry` if the entry does not exist.
    package func markRead(_ number: Int64, appID: String) throws(AgentRefusal) -> Int {
        if number != 0, try inboxEntry(number) == nil { throw .unknownEntry(number) }
        let count = try asking { () throws(SQLiteError) in try database.inbox.markRead(number, appID: appID) }
        if count > 0 { inboxChanged() }
        return count
    }

    /// Marks those of these entries as read that still exist; returns how many were unread.
    package func markRead(_ numbers: [Int64]) throws(AgentRefusal) -> Int {
        let count = try asking { () throws(SQLiteError) in
            try database.transaction { () throws(SQLiteError) in
                var count = 0
                // The number 0 would select all entries.
                for number in numbers where number > 0 { count += try database.inbox.markRead(number, appID: "") }
                return count
            }
        }
        if count > 0 { inboxChanged() }
        return count
    }

    /// Removes one entry and withdraws its alert.
    package func removeInboxEntry(_ number: Int64) throws(AgentRefusal) {
        guard try removeInboxEntries([number]) > 0 else { throw .unknownEntry(number) }
    }

    /// Removes those of these entries that still exist and withdraws their alerts; returns how many.
    package func removeInboxEntries(_ numbers: [Int64]) throws(AgentRefusal) -> Int {
        let removed = try asking { () throws(SQLiteError) in
            try database.transaction { () throws(SQLiteError) in try database.removeInboxEntries(numbers) }
        }
        guard !removed.isEmpty else { return 0 }
        presentations.withdraw(removed)
        link?.outboxSender.setNeedsFlush()
        inboxChanged()
        return removed.count
    }

    /// Removes entries that exceed the user's limits of age and count.
    func trimInbox() {
        do {
            let now = WallClock.unixMilliseconds()
            let isConnected = connectedSinceUnixSeconds != nil
            let removed = try database.transaction { () throws(SQLiteError) in
                if isConnected { try database.facts.set(.lastConnectedUnixSeconds, to: now / 1000) }
                return try database.trimInbox(nowUnixMilliseconds: now)
            }
            guard !removed.isEmpty else { return }
            presentations.withdraw(removed)
            inboxChanged()
        } catch {
            databaseFailed(error)
        }
    }

    /// Removes the entries of an app and withdraws their alerts; an empty app ID means all apps; returns the number of
    /// entries.
    package func clearInbox(appID: String) throws(AgentRefusal) -> Int {
        let removed = try asking { () throws(SQLiteError) in
            try database.transaction { () throws(SQLiteError) in try database.clearInbox(appID: appID) }
        }
        presentations.withdraw(removed)
        link?.outboxSender.setNeedsFlush()
        inboxChanged()
        return removed.count
    }
}

extension InboxEntry {
    /// The notification as JSON for the app; the payload is included byte for byte.
    package var notificationJSON: [UInt8] { notificationJSON(with: nil) }

    /// Returns the notification as JSON for the app, with the ID of the chosen button and the typed text.
    func notificationJSON(with action: ChosenAction?) -> [UInt8] {
        var output = Array("{".utf8)
        var facts = [
            ("app_id", appID), ("topic", topic), ("apns_id", apnsID), ("unique_id", uniqueID), ("title", title ?? ""),
            ("body", body ?? ""),
        ]
        if let channel { facts.append(("channel_id", channel)) }
        if let action { facts += [("action", action.id), ("text", action.text ?? "")] }
        for (key, text) in facts {
            JSONWriter.append(key: key, to: &output)
            JSONWriter.append(text, to: &output)
        }
        JSONWriter.append(key: "received_at", to: &output)
        JSONWriter.append(receivedUnixMilliseconds, to: &output)
        JSONWriter.append(key: "payload", to: &output)
        return output + payload + [UInt8(ascii: "}")]
    }
}
