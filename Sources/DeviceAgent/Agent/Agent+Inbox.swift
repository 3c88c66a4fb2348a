// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite
internal import PushNet

extension Agent: AlertPresenterDelegate {
    /// A person chose, or the alert left the screen by itself.
    package func alert(_ entry: Int64, ended outcome: AlertOutcome) {
        switch outcome {
        case .view(let token): view(entry, activationToken: token)
        case .action(let id, let text, let token): act(entry, ChosenAction(id: id, text: text), activationToken: token)
        case .dismissed: finish(entry, to: .closed, .closed)
        case .expired: break
        }
    }

    /// Remembers where the alert is, so that View, Close and clearing reach it after a restart.
    package func alertShown(_ entry: Int64, at place: AlertPlace) {
        noteAlerts { () throws(SQLiteError) in
            try database.alerts.save(place, of: entry)
            guard let row = try database.inbox.entry(entry), row.state == .shown,
                row.reason.utf8.elementsEqual(AlertPresented.doubt.utf8)
            else { return }
            // The answer comes late.
            try database.inbox.setReason("", of: entry)
            try database.outbox.append(sequence: row.sequence, .shown)
        }
        link?.uplink.setNeedsFlush()
    }

    /// Forgets where the alerts were.
    package func alertsLeft(_ entries: [Int64]) {
        noteAlerts { () throws(SQLiteError) in try database.alerts.remove(entries) }
    }

    /// Lets those come back that were to stay until they are answered.
    package func alertsLost(_ entries: [Int64]) { presentations.alertsLost(entries) }

    private func noteAlerts(_ body: () throws(SQLiteError) -> Void) {
        do {
            try database.transaction(body)
        } catch {
            databaseFailed(error)
        }
    }

    /// Goes on presenting.
    package func presenterBecameAvailable() { presentations.presenterBecameAvailable() }

    /// Opens the app, once: what was viewed is on the disk before.
    func view(_ number: Int64, _ action: ChosenAction? = nil, activationToken: String?) {
        guard finish(number, to: .viewed, .viewed), let entry = entryToHandOver(number) else { return }
        guard let opener = surroundings.opener else {
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

    /// One entry; nil when it was cleared, or when the disk fails.
    func entryToHandOver(_ number: Int64) -> InboxEntry? {
        do {
            return try database.inbox.entry(number)
        } catch {
            databaseFailed(error)
            return nil
        }
    }

    /// Writes what a person did; false when it was done before.
    ///
    /// Nobody clicks twice because a disk is full: then it counts at once, and is written later.
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
            // A disk that fails ends the agent.
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
        link?.uplink.setNeedsFlush()
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

    // MARK: For clients

    /// The newest entries, newest first.
    package func inbox(countMax: Int64) throws(AgentRefusal) -> [InboxEntry] {
        try asking { () throws(SQLiteError) in try database.inbox.newest(countMax: countMax) }
    }

    /// One entry; nil when there is none of that number.
    package func inboxEntry(_ number: Int64) throws(AgentRefusal) -> InboxEntry? {
        try asking { () throws(SQLiteError) in try database.inbox.entry(number) }
    }

    /// Entries that match, newest first.
    package func inbox(matching query: InboxSearch.Query) throws(AgentRefusal) -> [InboxEntry] {
        try asking { () throws(SQLiteError) in
            try database.search.entries(matching: query, appNames: try database.appNames())
        }
    }

    /// Numbers of all entries of a kind that match, by app, each app's newest first.
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

    /// How many entries of each app the person has not seen.
    package func unreadCounts() throws(AgentRefusal) -> [(appID: String, count: Int64)] {
        try asking { () throws(SQLiteError) in try database.inbox.unreadCounts() }
    }

    /// Notes that the person saw an entry, or all of an app, or all; answers how many were new.
    package func markRead(_ number: Int64, appID: String) throws(AgentRefusal) -> Int {
        if number != 0, try inboxEntry(number) == nil { throw .unknownEntry(number) }
        let count = try asking { () throws(SQLiteError) in try database.inbox.markRead(number, appID: appID) }
        if count > 0 { inboxChanged() }
        return count
    }

    /// Notes that the person saw those of these entries that are still there; answers how many were new.
    package func markRead(_ numbers: [Int64]) throws(AgentRefusal) -> Int {
        let count = try asking { () throws(SQLiteError) in
            try database.transaction { () throws(SQLiteError) in
                var count = 0
                // 0 would be all of them.
                for number in numbers where number > 0 { count += try database.inbox.markRead(number, appID: "") }
                return count
            }
        }
        if count > 0 { inboxChanged() }
        return count
    }

    /// Removes one entry and takes its alert off the screen.
    package func removeInboxEntry(_ number: Int64) throws(AgentRefusal) {
        guard try removeInboxEntries([number]) > 0 else { throw .unknownEntry(number) }
    }

    /// Removes those of these entries that are still there and takes their alerts off the screen; answers how many.
    package func removeInboxEntries(_ numbers: [Int64]) throws(AgentRefusal) -> Int {
        let removed = try asking { () throws(SQLiteError) in
            try database.transaction { () throws(SQLiteError) in try database.removeInboxEntries(numbers) }
        }
        guard !removed.isEmpty else { return 0 }
        presentations.withdraw(removed)
        link?.uplink.setNeedsFlush()
        inboxChanged()
        return removed.count
    }

    /// Removes what is older or more than the person wants to keep.
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

    /// Removes the entries of an app, of all apps when empty, and takes their alerts off the screen; answers how many.
    package func clearInbox(appID: String) throws(AgentRefusal) -> Int {
        let removed = try asking { () throws(SQLiteError) in
            try database.transaction { () throws(SQLiteError) in try database.clearInbox(appID: appID) }
        }
        presentations.withdraw(removed)
        link?.uplink.setNeedsFlush()
        inboxChanged()
        return removed.count
    }
}

extension AgentDatabase {
    /// Removes the entries of an app, of all apps when empty, inside a transaction; answers their numbers.
    func clearInbox(appID: String) throws(SQLiteError) -> [Int64] {
        for number in try inbox.waiting() {
            guard let entry = try inbox.entry(number) else { continue }
            guard appID.isEmpty || entry.appID.utf8.elementsEqual(appID.utf8) else { continue }
            try suppress(number, .cleared)
        }
        return try inbox.removeAll(appID: appID)
    }

    /// Removes entries, inside a transaction; answers the numbers of those that were there.
    fileprivate func removeInboxEntries(_ numbers: [Int64]) throws(SQLiteError) -> [Int64] {
        var removed: [Int64] = []
        // 0 would be all of them.
        for number in numbers where number > 0 {
            try suppress(number, .cleared)
            if try inbox.remove(number) { removed.append(number) }
        }
        return removed
    }

    /// Names of the registered apps, by their ids.
    fileprivate func appNames() throws(SQLiteError) -> [String: String] {
        Dictionary(uniqueKeysWithValues: try apps.all().map { ($0.appID, $0.name) })
    }
}

extension AppOpenError {
    /// What a person can do something about.
    var failure: OpenFailure {
        switch self {
        case .noDesktopFile, .noProgram: .notInstalled
        case .notLaunchable, .noDirectory, .unreadableExec: .damaged
        case .needsTerminal: .needsTerminal
        case .failed: .notStarted
        }
    }

    /// One line for the inbox.
    var text: String {
        switch self {
        case .noDesktopFile(let appID): "no \(appID).desktop in the applications folders: install the app"
        case .notLaunchable(let path): "neither Exec nor DBusActivatable in \(path)"
        case .needsTerminal(let path): "the app runs in a terminal, which needs xdg-terminal-exec: \(path)"
        case .noDirectory(let directory, let path): "there is no directory \(directory), which is Path in \(path)"
        case .unreadableExec(let path): "the Exec line cannot be read in \(path): check its quotes"
        case .noProgram(let name): "the app is not installed or cannot be executed: \(name)"
        case .failed(let text): text
        }
    }
}

extension InboxEntry {
    /// What the app gets of it: the facts, and the payload byte for byte.
    package var notificationJSON: [UInt8] { notificationJSON(with: nil) }

    /// What the app gets of it with the button that was chosen: its id and what the person typed.
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
