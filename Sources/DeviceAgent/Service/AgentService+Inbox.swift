// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushDBus

extension AgentService {
    /// Answers the methods about the inbox; returns nil for other methods.
    func answerAboutInbox(_ member: String, _ arguments: Arguments) throws(AgentRefusal) -> [BusValue]? {
        switch member {
        case "ListInbox":
            return [try list(try agent.inbox(countMax: Int64(try arguments.uint32(0))))]
        case "SearchInbox":
            var query = InboxSearch.Query()
            query.text = try arguments.text(0)
            query.appID = try arguments.text(1)
            query.kind = try kind(try arguments.text(2), of: member)
            query.before = try arguments.int64(3)
            query.countMax = Int64(try arguments.uint32(4))
            return [try list(try agent.inbox(matching: query))]
        case "FindInbox":
            let found = try agent.inboxNumbers(
                matching: try arguments.text(0), try kind(try arguments.text(1), of: member))
            return [.dictionary(found.map { ($0, .variant(.array("x", $1.map(BusValue.int64)))) })]
        case "GetInboxEntry":
            let number = try arguments.int64(0)
            guard let entry = try agent.inboxEntry(number) else { throw .unknownEntry(number) }
            return [.dictionary(entry.dictionary(appName: try appNames()[entry.appID]))]
        case "CountInbox":
            let counts = try agent.unreadCounts().map { ($0.appID, UInt32(clamping: $0.count)) }
            let sum = counts.reduce(UInt32(0)) { $0 + $1.1 }
            return [.uint32(sum), .dictionary(counts.map { ($0.0, .variant(.uint32($0.1))) })]
        case "MarkRead":
            let count = try agent.markRead(try arguments.int64(0), appID: try arguments.text(1))
            return [.uint32(UInt32(clamping: count))]
        case "MarkEntriesRead":
            return [.uint32(UInt32(clamping: try agent.markRead(try arguments.int64s(0))))]
        case "RemoveInboxEntry":
            try agent.removeInboxEntry(try arguments.int64(0))
            return []
        case "RemoveInboxEntries":
            return [.uint32(UInt32(clamping: try agent.removeInboxEntries(try arguments.int64s(0))))]
        case "ClearInbox":
            return [.uint32(UInt32(clamping: try agent.clearInbox(appID: try arguments.text(0))))]
        default:
            return nil
        }
    }

    private func kind(_ word: String, of member: String) throws(AgentRefusal) -> InboxSearch.Kind {
        if let kind = InboxSearch.Kind.allCases.first(where: { $0.rawValue.utf8.elementsEqual(word.utf8) }) {
            return kind
        }
        let words = InboxSearch.Kind.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        throw AgentRefusal(.badValue, "\(member) knows no kind '\(word)', only \(words).")
    }

    private func list(_ entries: [InboxEntry]) throws(AgentRefusal) -> BusValue {
        let names = try appNames()
        return .array("a{sv}", entries.map { .dictionary($0.dictionary(appName: names[$0.appID])) })
    }
}

extension InboxEntry {
    /// Returns the dictionary for ListInbox and GetInboxEntry.
    fileprivate func dictionary(appName: String?) -> [(String, BusValue)] {
        [
            ("entry", .variant(.int64(entry))), ("id", .variant(.text(uniqueID))),
            ("app_id", .variant(.text(appID))), ("app_name", .variant(.text(appName ?? appID))),
            ("received_at", .variant(.int64(receivedUnixMilliseconds))), ("title", .variant(.text(title ?? ""))),
            ("body", .variant(.text(body ?? ""))),
            ("payload", .variant(.text(String(decoding: payload, as: UTF8.self)))),
            ("state", .variant(.text(publicState))), ("reason", .variant(.text(reason))),
            ("effects", .variant(.array("s", effects.split(separator: " ").map { .text(String($0)) }))),
            ("read", .variant(.bool(isRead))),
            ("channel", .variant(.text(channel ?? ""))), ("thread_id", .variant(.text(threadID ?? ""))),
        ]
    }

    /// The state for clients; a notification that is being presented counts as shown, because clients need no
    /// difference.
    private var publicState: String { state == .claimed ? State.shown.rawValue : state.rawValue }
}
