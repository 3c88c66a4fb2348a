// SPDX-License-Identifier: Apache-2.0

package import AgentStore
internal import PushAPI
package import PushCore
package import PushSQL

/// An event from the stream.
enum Arrival: Sendable, Equatable {
    case notification(ReceivedNotification)
    /// An event that cannot be read.
    ///
    /// Its sequence number in the server's queue is acknowledged, so that it does not come again.
    case unreadable(sequence: Int64)
}

/// The work that remains after a batch of arrivals is on the disk.
struct ReceptionResult: Sendable, Equatable {
    /// Entries to present, oldest first.
    var waiting: [EntryID] = []
    /// Entries that no longer wait because newer ones replaced them.
    var replaced: [EntryID] = []
    /// Entries that were added, oldest first.
    var arrived: [EntryID] = []
    /// Entries that were deleted because of their age or of the size of the inbox.
    var removed: [EntryID] = []
    /// Entries whose app's filter is due, oldest first.
    ///
    /// They must not be presented yet.
    var filtering: [EntryID] = []
    /// Apps to wake in the background, in order.
    var wakes: [BackgroundWake] = []
    /// Numbers to put on icons, by app ID.
    var badges: [AppID: UInt32] = [:]
    /// Whether broadcasts arrived on channels without a subscription; the server must be told.
    var hasUnwantedChannel = false
    /// The number of notifications that arrived for the first time.
    var newCount = 0
    /// The number of notifications that had arrived before.
    var repeatedCount = 0

    init(
        waiting: [EntryID] = [], replaced: [EntryID] = [], arrived: [EntryID] = [], removed: [EntryID] = [],
        badges: [AppID: UInt32] = [:], hasUnwantedChannel: Bool = false, newCount: Int = 0, repeatedCount: Int = 0
    ) {
        self.waiting = waiting
        self.replaced = replaced
        self.arrived = arrived
        self.removed = removed
        self.badges = badges
        self.hasUnwantedChannel = hasUnwantedChannel
        self.newCount = newCount
        self.repeatedCount = repeatedCount
    }
}

/// Stores each arrival before it is acknowledged or shown: inbox, badge and acknowledgement in one transaction.
final class Receiver {
    private let database: AgentDatabase
    private let currentDesktopState: () -> DesktopState
    private let texts: (AppID) -> AppTranslation

    /// Creates a receiver that works on a database.
    ///
    /// - Parameters:
    ///   - database: The database for entries, badges and acknowledgements.
    ///   - currentDesktopState: Returns the state of the desktop.
    ///   - texts: Returns the texts that an app installed.
    init(
        _ database: AgentDatabase, currentDesktopState: @escaping () -> DesktopState = { DesktopState() },
        texts: @escaping (AppID) -> AppTranslation = { _ in { _ in nil } }
    ) {
        self.database = database
        self.currentDesktopState = currentDesktopState
        self.texts = texts
    }

    /// Stores a batch of arrivals.
    ///
    /// Afterwards the outbox has the acknowledgements, so they may be sent. A notification that arrived before is only
    /// acknowledged again.
    ///
    /// - Parameters:
    ///   - arrivals: The arrivals, in the order of the stream.
    ///   - now: The wall clock.
    ///   - serverNow: The server's clock; nil if it is unknown.
    /// - Returns: The work that remains.
    /// - Throws: `SQLError`. Then nothing of the batch is stored, and nothing of it may be acknowledged.
    func receive(
        _ arrivals: [Arrival], now: Timestamp, serverNow: Timestamp? = nil
    ) throws(SQLError) -> ReceptionResult {
        try database.transaction { () throws(SQLError) in
            var reception = ReceptionResult()
            try database.state.set(.lastConnectedAt, to: now)
            let context = try database.settings.presentationContext(now: now, desktopState: currentDesktopState())
            for arrival in arrivals {
                switch arrival {
                case .unreadable(let sequence): try refuse(sequence: sequence)
                // No provider may send that much: the server is not a Posthorn server, or it is malicious.
                case .notification(let notification)
                where notification.payload.count > Limits.voipPayloadByteCountMax:
                    try refuse(sequence: notification.sequence)
                case .notification(let notification):
                    // In doubt the notification counts as not expired, because one of the clocks may be wrong.
                    let isExpired = notification.hasExpired(at: min(now, serverNow ?? now))
                    try attempt(notification, &reception) { (reception) throws(SQLError) in
                        try receive(notification, context, now: now, isExpired: isExpired, &reception)
                    }
                }
            }
            if !reception.arrived.isEmpty { reception.removed = try database.trimInbox(now: now) }
            return reception
        }
    }

    /// Receives one notification, or acknowledges it as unreadable if it is too big for the database; the rest of its
    /// batch is kept.
    private func attempt(
        _ notification: ReceivedNotification, _ reception: inout ReceptionResult,
        _ receive: (inout ReceptionResult) throws(SQLError) -> Void
    ) throws(SQLError) {
        var attempted = reception
        do {
            try database.savepoint { () throws(SQLError) in try receive(&attempted) }
            reception = attempted
        } catch {
            guard error.kind == .tooBig else { throw error }
            try refuse(sequence: notification.sequence)
        }
    }

    /// Acknowledges a notification that is not stored, so that it does not come again.
    private func refuse(sequence: Int64) throws(SQLError) {
        try database.outbox.append(sequence: sequence, .suppressed, reason: SuppressionReason.unreadable.rawValue)
    }

    private func receive(
        _ notification: ReceivedNotification, _ context: PresentationContext, now: Timestamp, isExpired: Bool,
        _ reception: inout ReceptionResult
    ) throws(SQLError) {
        try database.outbox.append(sequence: notification.sequence, .delivered)
        guard try database.inbox.markSeen(uniqueID: notification.uniqueID.text) else {
            reception.repeatedCount += 1
            return
        }
        reception.newCount += 1
        let topic = notification.registeredTopic
        let app = try database.apps.app(topic: topic)
        if let app, let channel = notification.channel, try !isWanted(channel.text, of: app) {
            reception.hasUnwantedChannel = true
            return try suppress(notification, .unsubscribed)
        }
        let payload = try? Payload(
            parsing: notification.payload.span, translation: app.map { texts($0.appID) } ?? { _ in nil })
        var decision = try payload.map { payload throws(SQLError) in
            try database.decide(payload, for: app, context)
        }
        if isExpired { decision?.withhold([.badge, .sound, .alert], .expired) }
        let mayFilter = app.map { $0.filters(payload, decision) } ?? false
        // The filter may set another badge number.
        if let app, let badge = payload?.badge, !mayFilter, decision?.keepsBadge == true {
            try receive(badge: badge, with: notification, for: app, decision, &reception)
        }
        if notification.channel != nil, let payload, payload.alert == nil, decision?.needsPresentation != true {
            return try settleSilently(notification, decision)
        }
        let entry = try append(notification, topic, app, payload, decision, now: now, &reception)
        // A notification that duplicates the one before it is not shown and needs no filter.
        if mayFilter, entry.state == .waiting {
            try database.filters.add(entry.entry)
            reception.filtering.append(entry.entry)
            reception.waiting.removeAll { $0 == entry.entry }
        }
    }

    /// Returns whether the app is subscribed to a channel; if not, queues an unsubscription for the server.
    private func isWanted(_ channel: String, of app: RegisteredApp) throws(SQLError) -> Bool {
        switch try database.subscriptions.state(of: channel, of: app.appID) {
        case .requested, .confirmed: return true
        case .ending: return false
        case nil:
            try database.subscriptions.addEnding(channel, of: app.appID)
            return false
        }
    }

    /// Reports a broadcast without text as shown; it only updates data in its app, and its inbox entry would be empty.
    private func settleSilently(_ notification: ReceivedNotification, _ decision: Decision?) throws(SQLError) {
        if let reason = decision?.suppression { return try suppress(notification, reason) }
        try database.outbox.append(sequence: notification.sequence, .shown)
    }

    private func suppress(
        _ notification: ReceivedNotification, _ reason: SuppressionReason
    ) throws(SQLError) {
        try database.outbox.append(sequence: notification.sequence, .suppressed, reason: reason.rawValue)
    }

    /// Stores the badge number even while the app may not show it; it is absolute, so it is still right when the app
    /// may show it again.
    private func receive(
        badge: UInt32, with notification: ReceivedNotification, for app: RegisteredApp, _ decision: Decision?,
        _ reception: inout ReceptionResult
    ) throws(SQLError) {
        let wins = try database.apps.setBadge(
            badge, of: app.appID, sequence: notification.sequence, acceptedAt: notification.acceptedAt)
        if wins, decision?.badge != nil { reception.badges[app.appID] = badge }
    }

    private func append(
        _ notification: ReceivedNotification, _ topic: TopicName, _ app: RegisteredApp?, _ payload: Payload?,
        _ decision: Decision?, now: Timestamp, _ reception: inout ReceptionResult
    ) throws(SQLError) -> InboxEntry {
        var decision = decision
        var entry = InboxEntry(
            uniqueID: notification.uniqueID.text, sequence: notification.sequence, appID: app?.appID ?? "",
            topic: topic, apnsID: notification.apnsID, receivedAt: now,
            acceptedAt: notification.acceptedAt, title: payload?.alert?.title,
            subtitle: payload?.alert?.subtitle, body: payload?.alert?.body, payload: notification.payload,
            collapseID: notification.collapseID, channel: notification.channel?.text, threadID: payload?.threadID,
            state: .suppressed)
        if let decided = decision, decided.alert != nil,
            try database.inbox.hasDuplicate(of: entry, for: decided.presentedAlertAndSound)
        {
            decision?.withhold([.sound, .alert], .duplicate)
        } else if let app {
            try replaceWaiting(of: app.appID, notification, &reception)
        }
        entry.url = payload?.link?.text
        entry.ignored = payload?.ignoredMembers ?? ""
        let reason = decision == nil ? .unreadable : decision?.suppression
        if reason == nil { entry.state = decision?.needsPresentation == true ? .waiting : .shown }
        entry.reason = reason?.rawValue ?? ""
        entry.effects = decision?.effectsText ?? ""
        // A badge or a sound has no text to read, so its entry does not count as unread.
        let hasAlert = payload.map { $0.alert != nil } ?? true
        entry.isRead = !hasAlert || reason == .duplicate
        let number = try database.inbox.append(entry)
        entry.entry = number
        reception.arrived.append(number)
        if let app, decision?.isHeldBack == true { try database.noteHeldBack(number, of: app) }
        if let app, payload?.isContentAvailable == true, app.manifest.wakesInBackground {
            let wake = BackgroundWake(appID: app.appID, entry: number)
            try database.wakes.setDue(wake)
            reception.wakes.append(wake)
        }
        switch entry.state {
        case .waiting:
            reception.waiting.append(number)
        case .suppressed:
            try database.outbox.append(sequence: entry.sequence, .suppressed, reason: reason?.rawValue)
        case .shown, .claimed, .viewed, .closed:
            try database.outbox.append(
                sequence: entry.sequence, .shown, reason: decision?.badge == nil ? nil : TraceDetail.badgeOnly.word)
        }
        return entry
    }

    private func replaceWaiting(
        of appID: AppID, _ newer: ReceivedNotification, _ reception: inout ReceptionResult
    ) throws(SQLError) {
        guard newer.collapseID != nil || newer.channel != nil else { return }
        let replaced = try database.inbox.waiting(
            appID: appID, collapseID: newer.collapseID, channel: newer.channel?.text)
        for older in replaced {
            try database.suppress(older, .replaced)
            reception.waiting.removeAll { $0 == older }
            reception.filtering.removeAll { $0 == older }
            reception.replaced.append(older)
        }
    }
}

extension RegisteredApp {
    /// Returns whether the app's filter runs before the notification is shown.
    fileprivate func filters(_ payload: Payload?, _ decision: Decision?) -> Bool {
        guard let payload, payload.isMutable, payload.alert != nil else { return false }
        return decision?.needsPresentation == true && manifest.filter != nil
    }
}

extension ReceivedNotification {
    /// Returns whether the notification has expired; an expiration of 0 means "now or never", and it has arrived.
    fileprivate func hasExpired(at time: Timestamp) -> Bool {
        guard let expiration, expiration > .unixEpoch else { return false }
        return expiration <= time
    }

    /// The topic that an app registered, without the suffix of the push type.
    var registeredTopic: TopicName {
        if let app { return app }
        let suffix = pushType?.topicSuffix ?? ""
        let topic = suffixedTopic.utf8
        guard !suffix.isEmpty, topic.count > suffix.utf8.count,
            topic.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
        else { return TopicName(suffixedTopic) }
        return TopicName(String(decoding: topic.dropLast(suffix.utf8.count), as: UTF8.self))
    }
}

extension AgentDatabase {
    /// Stores a time-sensitive notification that was held back, unless the user has decided about those of the app.
    func noteHeldBack(_ entry: EntryID, of app: RegisteredApp) throws(SQLError) {
        var app = app
        app.heldBackEntry = app.heldBackEntry ?? entry
        if try !settings.offers(to: app).isEmpty { try apps.setHeldBackEntry(entry, of: app.appID) }
    }

    /// Decides on a payload with the settings of its app and event type.
    package func decide(
        _ payload: Payload, for app: RegisteredApp?, _ context: PresentationContext
    ) throws(SQLError) -> Decision {
        var input = Decision.Input(payload, settings: nil, context: context)
        guard let app else { return Decision(input) }
        input.settings = try settings.settings(of: app)
        if let event = payload.category { input.event = try settings.switches(of: event, of: app) }
        return Decision(input)
    }
}
