// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushCore
internal import PushNet
internal import PushSQL

/// Lets apps change their `mutable-content` notifications, a few at a time, before these wait for the screen.
///
/// ```
/// due ──filter answers──▶ filtered ──commit──▶ waits for the screen, or is suppressed
///  ▲ a crash restarts here └── invalid answer, error or timeout: shown as it was sent
/// ```
///
/// Notifications without a filter do not wait for those with one.
final class FilterQueue {
    /// The maximum number of filters that run at the same time.
    static let runningCountMax = 4
    /// The maximum number of entries that wait for a filter.
    ///
    /// The oldest ones beyond it stay in the inbox only.
    static let waitingCountMax = 20

    /// Called with entries that are ready to be presented.
    var onReady: (([EntryID]) -> Void)?
    /// Called with the badge number to show on an app's icon.
    var onBadge: ((_ badge: UInt32, _ appID: AppID) -> Void)?
    /// Called with the SQLite error if an entry could not be updated.
    var onFailure: ((SQLError) -> Void)? {
        get { retry.onFailure }
        set { retry.onFailure = newValue }
    }
    /// Called with the error of a filter.
    var onFilterFailure: ((_ appID: AppID, _ message: String) -> Void)?
    /// Called when an entry has changed, and when acknowledgements were added to the outbox.
    var onChange: (() -> Void)?

    private let database: AgentDatabase
    private let filter: (any AppFilter)?
    private let texts: (AppID) -> AppTranslation
    private let context: () throws(SQLError) -> PresentationContext
    private let retry: StorageRetry
    private var waiting: [EntryID] = []
    private var runningCount = 0

    /// Creates a queue that works on a database.
    ///
    /// - Parameters:
    ///   - database: The database with the entries and the answers.
    ///   - loop: The event loop on which failed writes are retried.
    ///   - filter: Asks the apps; without it, every notification is shown as it was sent.
    ///   - texts: Returns the texts that an app installed.
    ///   - context: Returns the settings and states that apply to all apps now.
    init(
        _ database: AgentDatabase, loop: EventLoop, filter: (any AppFilter)?,
        texts: @escaping (AppID) -> AppTranslation = { _ in { _ in nil } },
        context: @escaping () throws(SQLError) -> PresentationContext
    ) {
        self.database = database
        self.filter = filter
        self.texts = texts
        self.context = context
        retry = StorageRetry(loop: loop)
        retry.onRetry = { [weak self] in self?.startNext() }
    }

    /// Restarts, at startup, the filters that an earlier run of the agent did not finish.
    func resume() throws(SQLError) { entriesArrived(try database.filters.due()) }

    /// Adds entries whose filter is due.
    func entriesArrived(_ entries: [EntryID]) {
        waiting += entries
        startNext()
    }

    private func startNext() {
        guard !retry.isWaiting else { return }
        do {
            try leaveSurplus()
            while runningCount < Self.runningCountMax, let number = waiting.first {
                try start(number)
                waiting.removeFirst()
            }
        } catch {
            retry.failed(error)
        }
    }

    private func leaveSurplus() throws(SQLError) {
        let surplus = waiting.prefix(max(0, waiting.count - Self.waitingCountMax))
        guard !surplus.isEmpty else { return }
        try database.transaction { () throws(SQLError) in
            for entry in surplus { try database.suppress(entry, .tooMany) }
        }
        waiting.removeFirst(surplus.count)
        onChange?()
    }

    private func start(_ number: EntryID) throws(SQLError) {
        guard let entry = try database.inbox.entry(number), entry.state == .waiting else { return }
        guard let filter, let app = try database.apps.app(id: entry.appID), let way = app.manifest.filter else {
            return try finish(number, .success([]))
        }
        runningCount += 1
        filter.filter(appID: app.appID, by: way, notification: entry.notificationJSON) { [weak self] answer in
            guard let self else { return }
            runningCount -= 1
            retry.write { [weak self] () throws(SQLError) in try self?.finish(number, answer) }
            startNext()
        }
    }

    // MARK: The answer

    /// Stores the answer, unless the entry was replaced or cleared in the meantime.
    private func finish(_ number: EntryID, _ answer: Result<[UInt8], AppFilterError>) throws(SQLError) {
        let shown = FilterQueue.shown(answer)
        var badge: (count: UInt32, appID: AppID)?
        let isReady = try database.transaction { () throws(SQLError) in
            guard let entry = try database.inbox.entry(number), entry.state == .waiting,
                try database.filters.row(of: number)?.isDue == true
            else { return false }
            try database.filters.finish(number, payload: shown.bytes, note: shown.note)
            if !shown.note.isEmpty { onFilterFailure?(entry.appID, shown.note) }
            let payload = try database.shownPayload(of: entry, texts(entry.appID))
            if let payload { badge = try keepBadge(of: payload, entry) }
            if shown.bytes != nil {
                guard let payload, payload.alert != nil else {
                    try database.inbox.setEffects(try effects(ofFiltered: entry, badge: payload?.badge), of: number)
                    try database.suppress(number, .filtered)
                    return false
                }
                try database.inbox.setTexts(payload, of: number)
            }
            return true
        }
        if let badge { onBadge?(badge.count, badge.appID) }
        onChange?()
        if isReady { onReady?([number]) }
    }

    /// Returns the outcomes of all parts of a notification after its filter left at most a badge.
    private func effects(ofFiltered entry: InboxEntry, badge: UInt32?) throws(SQLError) -> String {
        guard let app = try database.apps.app(id: entry.appID),
            var sent = try? Payload(parsing: entry.payload.span, translation: texts(entry.appID))
        else { return entry.effects }
        sent.badge = badge ?? sent.badge
        var decision = try database.decide(sent, for: app, context())
        decision.withhold(badge == nil ? [.badge, .sound, .alert] : [.sound, .alert], .filtered)
        return decision.effectsText
    }

    /// Returns the payload to show instead of the provider's, and the error in the answer.
    private static func shown(_ answer: Result<[UInt8], AppFilterError>) -> (bytes: [UInt8]?, note: String) {
        switch answer {
        case .success(let bytes) where bytes.isEmpty: return (nil, "")
        case .success(let bytes):
            guard (try? Payload(parsing: bytes.span)) != nil else {
                return (nil, "the filter's output is not a JSON object")
            }
            return (bytes, "")
        case .failure(let error): return (nil, error.message)
        }
    }

    /// Stores the badge number, and returns it if the icon must show it now.
    private func keepBadge(
        of payload: Payload, _ entry: InboxEntry
    ) throws(SQLError) -> (count: UInt32, appID: AppID)? {
        guard let badge = payload.badge, let app = try database.apps.app(id: entry.appID) else { return nil }
        let decision = try database.decide(payload, for: app, context())
        guard decision.keepsBadge else { return nil }
        let isNewest = try database.apps.setBadge(
            badge, of: app.appID, sequence: entry.sequence, acceptedAt: entry.acceptedAt)
        return isNewest && decision.badge != nil ? (badge, app.appID) : nil
    }
}
