// SPDX-License-Identifier: Apache-2.0

internal import AgentBus

/// A filter of the inbox.
enum InboxFilter: String, CaseIterable, Sendable {
    case all, unread
    case notShown = "not-shown"

    /// Returns whether an entry passes the filter.
    func takes(_ entry: InboxRecord) -> Bool {
        switch self {
        case .all: true
        case .unread: !entry.isRead
        case .notShown: entry.reasonNotShown != nil
        }
    }

    /// The agent's name of the filter.
    var kind: String {
        switch self {
        case .all: ""
        case .unread: "unread"
        case .notShown: "suppressed"
        }
    }
}
