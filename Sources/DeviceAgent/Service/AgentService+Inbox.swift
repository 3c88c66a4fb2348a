// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushDBus

extension AgentService {
    /// Answers the methods about the inbox; returns nil for other methods.
    func answerAboutInbox(_ method: AgentMethod, _ arguments: Arguments) throws(AgentRefusal) -> [BusValue]? {
        switch method {
        case .listInbox:
            return [try list(try agent.inbox.newest(countMax: Int64(try arguments.uint32(0))))]
        case .searchInbox:
            var query = InboxSearch.Query()
            query.text = try arguments.text(0)
            query.appID = try arguments.appIDOrAll(1)
            query.kind = try kind(try arguments.text(2), of: method)
            query.before = try arguments.entryIDOrAll(3)
            query.countMax = Int64(try arguments.uint32(4))
            return [try list(try agent.inbox.entries(matching: query))]
        case .findInbox:
            let found = try agent.inbox.numbers(
                matching: try arguments.text(0), try kind(try arguments.text(1), of: method))
            return [.dictionary(found.map { ($0.text, .variant(.array("x", $1.map { .int64($0.rawValue) }))) })]
        case .getInboxEntry:
            let number = try arguments.entryID(0)
            guard let entry = try agent.inbox.entry(number) else { throw .unknownEntry(number) }
            let app = try agent.registrations.app(entry.appID)
            let remindAt = try agent.reminders.times()[number]
            let schemes = agent.environment.linkSchemes
            return [
                entry.record(of: app, offers: try offers(to: app), remindAt: remindAt, schemes: schemes).dictionary
            ]
        case .countInbox:
            let counts = try agent.inbox.unreadCounts().map { ($0.appID, UInt32(clamping: $0.count)) }
            let sum = counts.reduce(UInt32(0)) { $0 + $1.1 }
            return [.uint32(sum), .dictionary(counts.map { ($0.0.text, .variant(.uint32($0.1))) })]
        case .markRead:
            let count = try agent.inbox.markRead(try arguments.entryIDOrAll(0), appID: try arguments.appIDOrAll(1))
            return [.uint32(UInt32(clamping: count))]
        case .markEntriesRead:
            return [.uint32(UInt32(clamping: try agent.inbox.markRead(try arguments.entryIDs(0))))]
        case .removeInboxEntry:
            try agent.inbox.remove(try arguments.entryID(0))
            return []
        case .removeInboxEntries:
            return [.uint32(UInt32(clamping: try agent.inbox.remove(try arguments.entryIDs(0))))]
        case .clearInbox:
            return [.uint32(UInt32(clamping: try agent.inbox.clear(appID: try arguments.appIDOrAll(0))))]
        case .remindEntry:
            try agent.reminders.remind(of: try arguments.entryID(0), at: try arguments.secondsIfSet(1))
            return []
        default:
            return nil
        }
    }

    private func kind(_ word: String, of method: AgentMethod) throws(AgentRefusal) -> InboxSearch.Kind {
        if let kind = InboxSearch.Kind.allCases.first(where: { $0.rawValue.utf8.elementsEqual(word.utf8) }) {
            return kind
        }
        let words = InboxSearch.Kind.allCases.map { "'\($0.rawValue)'" }.joined(separator: " or ")
        throw AgentRefusal(.badValue, "Invalid kind '\(word)' for \(method.rawValue): use \(words).")
    }

    private func list(_ entries: [InboxEntry]) throws(AgentRefusal) -> BusValue {
        let times = try agent.reminders.times()
        let apps = Dictionary(uniqueKeysWithValues: try agent.registrations.apps().map { ($0.appID, $0) })
        var known: [AppID: [String]?] = [:]
        let schemes = { (appID: AppID) in
            // Each look-up reads the disk.
            if let schemes = known[appID] { return schemes }
            let schemes = self.agent.environment.linkSchemes(appID)
            known[appID] = .some(schemes)
            return schemes
        }
        return InboxRecord.array(
            try entries.map { entry throws(AgentRefusal) in
                let app = apps[entry.appID]
                let offers = app?.heldBackEntry == entry.entry ? try offers(to: app) : []
                return entry.record(of: app, offers: offers, remindAt: times[entry.entry], schemes: schemes)
            })
    }

    private func offers(to app: RegisteredApp?) throws(AgentRefusal) -> [Setting] {
        try app.map { app throws(AgentRefusal) in try agent.settings.offers(to: app) } ?? []
    }
}

extension InboxEntry {
    fileprivate func record(
        of app: RegisteredApp?, offers: [Setting], remindAt: Timestamp?, schemes: (AppID) -> [String]?
    ) -> InboxRecord {
        var record = InboxRecord()
        record.entry = entry.rawValue
        record.uniqueID = uniqueID
        record.appID = appID.text
        record.appName = app?.name ?? appID.text
        record.isVerified = app?.isVerified ?? false
        record.offer = app?.heldBackEntry == entry ? offers.first?.rawValue ?? "" : ""
        record.receivedAt = receivedAt
        record.title = title ?? ""
        record.body = body ?? ""
        record.payload = String(decoding: payload, as: UTF8.self)
        record.state = publicState
        record.effects = effects.split(separator: " ").map(String.init)
        record.isRead = isRead
        record.reason = reason
        record.channel = channel ?? ""
        record.threadID = threadID ?? ""
        record.remindAt = remindAt
        if let app, url != nil { record.url = ViewTarget(self, app, schemes: schemes(app.appID)).link?.text ?? "" }
        record.picture = picture ?? ""
        record.ignored = ignored.split(separator: "\n").map(String.init)
        return record
    }

    /// The state for clients; a notification that is being presented counts as shown, because clients need no
    /// difference.
    private var publicState: String { state == .claimed ? State.shown.rawValue : state.rawValue }
}
