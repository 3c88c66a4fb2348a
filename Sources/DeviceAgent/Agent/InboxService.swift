// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushSQL
internal import PushNet

/// The inbox: stores what arrives, starts its presentation, and answers the clients' requests.
package final class InboxService {
    /// Called after notifications have arrived.
    var onBurst: (() -> Void)?
    private let database: AgentDatabase
    private let link: ServerLink
    private let presentations: PresentationQueue
    private let badges: BadgeService
    private let changes: ChangeNotifier
    private let failures: DatabaseFailures
    private let receiver: Receiver
    private let filters: FilterQueue
    private let wakes: BackgroundLauncher
    private let pictures: PictureQueue

    init(_ context: AgentContext, _ wakes: BackgroundLauncher) {
        let (database, environment) = (context.database, context.environment)
        self.database = database
        link = context.link
        presentations = context.presentations
        badges = context.badges
        changes = context.changes
        failures = context.failures
        receiver = Receiver(database, currentDesktopState: environment.currentDesktopState, texts: environment.texts)
        filters = FilterQueue(
            database, loop: context.loop, filter: environment.filter, texts: environment.texts
        ) { () throws(SQLError) in
            try database.settings.presentationContext(now: .now, desktopState: environment.currentDesktopState())
        }
        self.wakes = wakes
        pictures = PictureQueue(
            database, loop: context.loop, means: environment.pictures, texts: environment.texts,
            failures: context.failures)
        joinFilters()
        pictures.onReady = { [weak self] in self?.presentations.entriesArrived($0) }
        pictures.onChange = { [weak self] in self?.changes.inboxChanged() }
    }

    /// Resumes the work of an earlier run.
    func resume() throws(SQLError) {
        try filters.resume()
        try wakes.resume()
        pictures.sweep()
    }

    /// Connects the callbacks of the filter queue to presentation, badges and the outbox.
    private func joinFilters() {
        filters.onReady = { [weak self] in self?.pictures.entriesArrived($0) }
        filters.onBadge = { [weak self] badge, appID in self?.badges.present(badge, appID: appID) }
        filters.onFailure = { [weak self] in self?.failures.report($0) }
        filters.onFilterFailure = { appID, message in
            agentLog.warning("filter_failed", ["app": appID.text, "error": message])
        }
        filters.onChange = { [weak self] in
            self?.link.setNeedsFlush()
            self?.changes.inboxChanged()
        }
    }

    // MARK: Arrivals

    /// Stores the arrivals, acknowledges them, then presents them; returns false when the database fails.
    func receive(_ arrivals: [Arrival], serverNow: Timestamp?) -> Bool {
        let reception: ReceptionResult
        do {
            reception = try receiver.receive(arrivals, now: .now, serverNow: serverNow)
        } catch {
            failures.report(error)
            return false
        }
        agentLog.info("received", ["new": "\(reception.newCount)", "repeated": "\(reception.repeatedCount)"])
        link.setNeedsFlush()
        if reception.hasUnwantedChannel { link.clients?.registrar.setNeedsFlush() }
        presentations.withdraw(reception.replaced + reception.removed)
        for (appID, badge) in reception.badges.sorted(by: { $0.key < $1.key }) { badges.present(badge, appID: appID) }
        for entry in reception.arrived { changes.observer?.notificationArrived(entry: entry) }
        pictures.entriesArrived(reception.waiting)
        if !reception.removed.isEmpty { pictures.sweep() }
        filters.entriesArrived(reception.filtering)
        for wake in reception.wakes { wakes.wake(wake) }
        if reception.newCount > 0 {
            changes.inboxChanged()
            onBurst?()
        }
        return true
    }

    /// Presents entries again that are stored as waiting; an entry whose filter never ran passes it first.
    func presentAgain(_ entries: [EntryID], unfiltered: Set<EntryID>) {
        presentations.entriesArrived(entries.filter { !unfiltered.contains($0) })
        filters.entriesArrived(entries.filter(unfiltered.contains))
    }

    // MARK: Requests of clients

    /// Returns the newest entries, newest first.
    func newest(countMax: Int64) throws(AgentRefusal) -> [InboxEntry] {
        try failures.refusing { () throws(SQLError) in try database.inbox.newest(countMax: countMax) }
    }

    /// Returns one entry; nil if the number is unknown.
    func entry(_ number: EntryID) throws(AgentRefusal) -> InboxEntry? {
        try failures.refusing { () throws(SQLError) in try database.inbox.entry(number) }
    }

    /// Returns the entries that match a query, newest first.
    func entries(matching query: InboxSearch.Query) throws(AgentRefusal) -> [InboxEntry] {
        try failures.refusing { () throws(SQLError) in
            try database.search.entries(matching: query, appNames: try database.appNames())
        }
    }

    /// Returns the numbers of all matching entries of a kind, grouped by app ID, newest first.
    func numbers(
        matching text: String, _ kind: InboxSearch.Kind
    ) throws(AgentRefusal) -> [AppID: [EntryID]] {
        var query = InboxSearch.Query()
        (query.text, query.kind, query.countMax) = (text, kind, .max)
        let found = try failures.refusing { () throws(SQLError) in
            try database.search.numbers(matching: query, appNames: try database.appNames())
        }
        return Dictionary(grouping: found, by: \.appID).mapValues { $0.map(\.entry) }
    }

    /// Returns the number of unread entries of each app.
    func unreadCounts() throws(AgentRefusal) -> [(appID: AppID, count: Int64)] {
        try failures.refusing { () throws(SQLError) in try database.inbox.unreadCounts() }
    }

    /// Marks an entry as read, or all entries of an app, or all entries.
    ///
    /// - Parameters:
    ///   - number: The entry; nil for all entries of the app.
    ///   - appID: The app; nil for all apps.
    /// - Returns: The number of entries that were unread.
    /// - Throws: `unknownEntry` if the entry does not exist.
    func markRead(_ number: EntryID?, appID: AppID?) throws(AgentRefusal) -> Int {
        if let number, try entry(number) == nil { throw .unknownEntry(number) }
        let count = try failures.refusing { () throws(SQLError) in try database.inbox.markRead(number, appID: appID)
        }
        if count > 0 { changes.inboxChanged() }
        return count
    }

    /// Marks those of these entries as read that still exist; returns how many were unread.
    func markRead(_ numbers: [EntryID]) throws(AgentRefusal) -> Int {
        let count = try failures.refusing { () throws(SQLError) in
            try database.transaction { () throws(SQLError) in
                var count = 0
                // The number 0 would select all entries.
                for number in numbers where number > 0 { count += try database.inbox.markRead(number, appID: nil) }
                return count
            }
        }
        if count > 0 { changes.inboxChanged() }
        return count
    }

    /// Removes one entry and withdraws its alert.
    func remove(_ number: EntryID) throws(AgentRefusal) {
        guard try remove([number]) > 0 else { throw .unknownEntry(number) }
    }

    /// Removes those of these entries that still exist and withdraws their alerts; returns how many.
    func remove(_ numbers: [EntryID]) throws(AgentRefusal) -> Int {
        let removed = try failures.refusing { () throws(SQLError) in
            try database.transaction { () throws(SQLError) in try database.removeInboxEntries(numbers) }
        }
        guard !removed.isEmpty else { return 0 }
        presentations.withdraw(removed)
        pictures.sweep()
        link.setNeedsFlush()
        changes.inboxChanged()
        return removed.count
    }

    /// Removes entries that exceed the user's limits of age and count.
    func trim() {
        do {
            let now = Timestamp.now
            let isConnected = link.connectedSince != nil
            let removed = try database.transaction { () throws(SQLError) in
                if isConnected { try database.state.set(.lastConnectedAt, to: now) }
                return try database.trimInbox(now: now)
            }
            guard !removed.isEmpty else { return }
            presentations.withdraw(removed)
            pictures.sweep()
            changes.inboxChanged()
        } catch {
            failures.report(error)
        }
    }

    /// Removes the entries of an app and withdraws their alerts; nil means all apps; returns the number of
    /// entries.
    func clear(appID: AppID?) throws(AgentRefusal) -> Int {
        let removed = try failures.refusing { () throws(SQLError) in
            try database.transaction { () throws(SQLError) in try database.clearInbox(appID: appID) }
        }
        presentations.withdraw(removed)
        pictures.sweep()
        link.setNeedsFlush()
        changes.inboxChanged()
        return removed.count
    }

    /// Deletes the pictures of entries that were removed elsewhere.
    func deleteUnusedPictures() { pictures.sweep() }

    // MARK: Notes on entries

    /// Returns one entry; nil if it was cleared or the database fails.
    func entryToPass(_ number: EntryID) -> InboxEntry? {
        do {
            return try database.inbox.entry(number)
        } catch {
            failures.report(error)
            return nil
        }
    }

    /// Writes a reason into an entry.
    func note(_ reason: String, on number: EntryID) {
        do {
            try database.inbox.setReason(reason, of: number)
        } catch {
            failures.report(error)
        }
        changes.inboxChanged()
    }
}
