// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushSQLite

/// What came on the stream.
package enum Arrival: Sendable, Equatable {
    /// A notification.
    case notification(ReceivedNotification)
    /// An event that cannot be read; its place in the server's queue, so that it does not come again.
    case unreadable(sequence: Int64)
}

/// What a batch of arrivals left to do; everything in it is on the disk.
package struct Reception: Sendable, Equatable {
    /// Entries to present, oldest first.
    package var waiting: [Int64] = []
    /// Entries that wait no longer: newer ones replaced them.
    package var replaced: [Int64] = []
    /// Entries that were added, oldest first.
    package var arrived: [Int64] = []
    /// Entries that are gone: too old, or too many came since.
    package var removed: [Int64] = []
    /// Entries whose app's filter is due, oldest first; they are not to be presented yet.
    package var filtering: [Int64] = []
    /// Apps to wake in the background, in order.
    package var wakes: [BackgroundWakes.Wake] = []
    /// Numbers to put on icons, by app id.
    package var badges: [String: UInt32] = [:]
    /// Whether broadcasts came of channels that nobody listens to: the server is to hear of it.
    package var hasUnwantedChannel = false
    /// How many had not come before.
    package var newCount = 0
    /// How many had come before.
    package var repeatedCount = 0

    /// Joins the parts.
    package init(
        waiting: [Int64] = [], replaced: [Int64] = [], arrived: [Int64] = [], removed: [Int64] = [],
        badges: [String: UInt32] = [:], hasUnwantedChannel: Bool = false, newCount: Int = 0, repeatedCount: Int = 0
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

/// Writes what comes, before anything is acknowledged or shown: inbox, badge and acknowledgement in one transaction.
package final class Receiver {
    private let database: AgentDatabase
    private let desk: () -> DeskState
    private let texts: (String) -> AppTexts.Translation

    /// Works on a database.
    ///
    /// - Parameters:
    ///   - database: Where all is written.
    ///   - desk: Tells what is going on at the person's desk.
    ///   - texts: The texts that an app installed.
    package init(
        _ database: AgentDatabase, desk: @escaping () -> DeskState = { DeskState() },
        texts: @escaping (String) -> AppTexts.Translation = { _ in { _ in nil } }
    ) {
        self.database = database
        self.desk = desk
        self.texts = texts
    }

    /// Writes a batch; when this returns, the server may be told, because the outbox has the acknowledgements.
    ///
    /// One that came before is only acknowledged again.
    ///
    /// - Parameters:
    ///   - arrivals: In the order of the stream.
    ///   - now: The wall clock, UNIX milliseconds.
    ///   - serverNow: The same by the server's clock; nil when that is not known.
    /// - Returns: What is left to do.
    /// - Throws: What SQLite said; nothing of the batch is kept, and nothing of it may be acknowledged.
    package func receive(
        _ arrivals: [Arrival], nowUnixMilliseconds now: Int64, serverUnixMilliseconds serverNow: Int64? = nil
    ) throws(SQLiteError) -> Reception {
        try database.transaction { () throws(SQLiteError) in
            var reception = Reception()
            try database.facts.set(.lastConnectedUnixSeconds, to: now / 1000)
            let circumstances = try database.settings.circumstances(nowUnixMilliseconds: now, desk: desk())
            for arrival in arrivals {
                switch arrival {
                case .unreadable(let sequence): try refuse(sequence: sequence)
                // No provider may send so much: the server is not one of ours, or does us harm.
                case .notification(let notification)
                where notification.payload.count > Limits.voipPayloadByteCountMax:
                    try refuse(sequence: notification.sequence)
                case .notification(let notification):
                    // In doubt it has not expired: one of the clocks may be wrong.
                    let isExpired = notification.hasExpired(at: min(now, serverNow ?? now))
                    try attempt(notification, &reception) { (reception) throws(SQLiteError) in
                        try receive(notification, circumstances, now: now, isExpired: isExpired, &reception)
                    }
                }
            }
            if !reception.arrived.isEmpty { reception.removed = try database.trimInbox(nowUnixMilliseconds: now) }
            return reception
        }
    }

    /// Receives one, or acknowledges it as unreadable when it is more than the database takes: the others with it are kept.
    private func attempt(
        _ notification: ReceivedNotification, _ reception: inout Reception,
        _ receive: (inout Reception) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        var attempted = reception
        do {
            try database.part { () throws(SQLiteError) in try receive(&attempted) }
            reception = attempted
        } catch {
            guard error.isTooBig else { throw error }
            try refuse(sequence: notification.sequence)
        }
    }

    /// Acknowledges what is not kept, so that it does not come again.
    private func refuse(sequence: Int64) throws(SQLiteError) {
        try database.outbox.append(sequence: sequence, .suppressed, reason: SuppressionReason.unreadable.rawValue)
    }

    private func receive(
        _ notification: ReceivedNotification, _ circumstances: Circumstances, now: Int64, isExpired: Bool,
        _ reception: inout Reception
    ) throws(SQLiteError) {
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
        var decision = try payload.map { payload throws(SQLiteError) in
            try database.decide(payload, for: app, circumstances)
        }
        if isExpired { decision?.withhold([.badge, .sound, .alert], .expired) }
        let mayFilter = app.map { $0.filters(payload, decision) } ?? false
        // The filter may set another number.
        if let app, let badge = payload?.badge, !mayFilter, decision?.keepsBadge == true {
            try receive(badge: badge, with: notification, for: app, decision, &reception)
        }
        if notification.channel != nil, let payload, payload.alert == nil, decision?.needsPresentation != true {
            return try settleSilently(notification, decision)
        }
        let entry = try append(notification, topic, app, payload, decision, now: now, &reception)
        // One that looks like the one before it is not shown, and needs no filter.
        if mayFilter, entry.state == .waiting {
            try database.filters.add(entry.entry)
            reception.filtering.append(entry.entry)
            reception.waiting.removeAll { $0 == entry.entry }
        }
    }

    /// Whether the app listens to a channel; when not, remembers to tell the server so.
    private func isWanted(_ channel: String, of app: RegisteredApp) throws(SQLiteError) -> Bool {
        switch try database.subscriptions.state(of: channel, of: app.appID) {
        case .wanted, .held: return true
        case .unwanted: return false
        case nil:
            try database.subscriptions.addUnwanted(channel, of: app.appID)
            return false
        }
    }

    /// A broadcast that only updates what an app shows has no text: an inbox entry of it would say nothing.
    private func settleSilently(_ notification: ReceivedNotification, _ decision: Decision?) throws(SQLiteError) {
        if let reason = decision?.suppression { return try suppress(notification, reason) }
        try database.outbox.append(sequence: notification.sequence, .shown)
    }

    private func suppress(
        _ notification: ReceivedNotification, _ reason: SuppressionReason
    ) throws(SQLiteError) {
        try database.outbox.append(sequence: notification.sequence, .suppressed, reason: reason.rawValue)
    }

    /// The number is remembered even while the app may not show it: it is absolute, and true when it may again.
    private func receive(
        badge: UInt32, with notification: ReceivedNotification, for app: RegisteredApp, _ decision: Decision?,
        _ reception: inout Reception
    ) throws(SQLiteError) {
        let wins = try database.apps.setBadge(
            badge, of: app.appID, sequence: notification.sequence,
            acceptedUnixMilliseconds: notification.acceptedUnixMilliseconds)
        if wins, decision?.badge != nil { reception.badges[app.appID] = badge }
    }

    private func append(
        _ notification: ReceivedNotification, _ topic: String, _ app: RegisteredApp?, _ payload: Payload?,
        _ decision: Decision?, now: Int64, _ reception: inout Reception
    ) throws(SQLiteError) -> InboxEntry {
        var decision = decision
        var entry = InboxEntry(
            uniqueID: notification.uniqueID.text, sequence: notification.sequence, appID: app?.appID ?? "",
            topic: topic, apnsID: notification.apnsID, receivedUnixMilliseconds: now,
            acceptedUnixMilliseconds: notification.acceptedUnixMilliseconds, title: payload?.alert?.title,
            subtitle: payload?.alert?.subtitle, body: payload?.alert?.body, payload: notification.payload,
            collapseID: notification.collapseID, channel: notification.channel?.text, threadID: payload?.threadID,
            state: .suppressed)
        if let decided = decision, decided.alert != nil, try database.inbox.hasTwin(of: entry, for: decided.loudParts) {
            decision?.withhold([.sound, .alert], .duplicate)
        } else if let app {
            try replaceWaiting(of: app.appID, notification, &reception)
        }
        let reason = decision == nil ? .unreadable : decision?.suppression
        if reason == nil { entry.state = decision?.needsPresentation == true ? .waiting : .shown }
        entry.reason = reason?.rawValue ?? ""
        entry.effects = decision?.effectsText ?? ""
        // A badge is on its icon and a sound was heard: neither waits in the list to be read.
        let hasAlert = payload.map { $0.alert != nil } ?? true
        entry.isRead = !hasAlert || reason == .duplicate
        let number = try database.inbox.append(entry)
        entry.entry = number
        reception.arrived.append(number)
        if let app, payload?.isContentAvailable == true, app.manifest.wakesInBackground {
            let wake = BackgroundWakes.Wake(appID: app.appID, entry: number)
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
        of appID: String, _ newer: ReceivedNotification, _ reception: inout Reception
    ) throws(SQLiteError) {
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
    /// Whether the app's filter comes before what would be shown.
    fileprivate func filters(_ payload: Payload?, _ decision: Decision?) -> Bool {
        guard let payload, payload.isMutable, payload.alert != nil else { return false }
        return decision?.needsPresentation == true && manifest.filter != nil
    }
}

extension ReceivedNotification {
    /// Whether nobody wants it any more; 0 means now or never, and it is here now.
    fileprivate func hasExpired(at unixMilliseconds: Int64) -> Bool {
        guard let expirationUnixSeconds, expirationUnixSeconds > 0 else { return false }
        return expirationUnixSeconds <= unixMilliseconds / 1000
    }

    /// The topic that an app registered: without the suffix that the push type puts behind it.
    package var registeredTopic: String {
        if let app { return app }
        let suffix = pushType?.topicSuffix ?? ""
        let topic = topicName.utf8
        guard !suffix.isEmpty, topic.count > suffix.utf8.count,
            topic.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
        else { return topicName }
        return String(decoding: topic.dropLast(suffix.utf8.count), as: UTF8.self)
    }
}

extension AgentDatabase {
    /// Decides about a payload by what holds for its app and its kind of event.
    package func decide(
        _ payload: Payload, for app: RegisteredApp?, _ circumstances: Circumstances
    ) throws(SQLiteError) -> Decision {
        var question = Decision.Question(payload, settings: nil, circumstances: circumstances)
        guard let app else { return Decision(question) }
        question.settings = try settings.settings(of: app)
        if let event = payload.category { question.event = try settings.switches(of: event, of: app) }
        return Decision(question)
    }

    /// Moves an entry, a waiting one if nothing else is said, to suppressed and remembers to tell the server; inside a
    /// transaction.
    package func suppress(
        _ entry: Int64, _ reason: SuppressionReason, from states: Set<InboxEntry.State> = [.waiting]
    ) throws(SQLiteError) {
        guard try inbox.move(entry, from: states, to: .suppressed, reason: reason.rawValue) else { return }
        let sequence = try inbox.entry(entry)?.sequence ?? 0
        try outbox.append(sequence: sequence, .suppressed, reason: reason.rawValue)
    }

    /// Moves an entry on and remembers to tell the server; false when it is in none of the states it may come from.
    package func finish(
        _ entry: Int64, from states: Set<InboxEntry.State>, to state: InboxEntry.State, _ outcome: DeviceAPI.Outcome,
        reason: String? = nil
    ) throws(SQLiteError) -> Bool {
        guard try inbox.move(entry, from: states, to: state) else { return false }
        try outbox.append(sequence: try inbox.entry(entry)?.sequence ?? 0, outcome, reason: reason)
        return true
    }
}
