// SPDX-License-Identifier: Apache-2.0

import AgentBus
@testable import AgentPanel
import Testing

struct NotificationRowsTests {
    private let entries = [
        SampleRecords.entry(9, app: "b", name: "Chat", isRead: false), SampleRecords.entry(8, app: "a", name: "Mail"),
        SampleRecords.entry(7, app: "b", name: "Chat", state: "suppressed", reason: "silent"),
        SampleRecords.entry(6, app: "", name: "", isRead: false),
    ]
    private let unreadCounts = ["b": 3333, "": 1, "c": 5]

    private func numbers(_ filter: InboxFilter) -> [Int64] {
        NotificationRows(entries, filter: filter, unreadCounts: [:]).entries.map(\.entry)
    }

    @Test func `the app with the newest entry is first, and entries are sorted newest first`() {
        #expect(numbers(.all) == [9, 7, 8, 6])
        let sections = NotificationRows(entries, filter: .all, unreadCounts: unreadCounts).rows.compactMap { row in
            if case .section(let section) = row { section } else { nil }
        }
        #expect(sections.map(\.name) == ["Chat", "Mail", "Unknown app"])
        #expect(sections.map(\.unreadCount) == [3333, 0, 1], "of the whole inbox, and not only of what is listed")
    }

    @Test func `a filter leaves out entries, and sections that become empty`() {
        #expect(numbers(.unread) == [9, 6])
        #expect(numbers(.notShown) == [7])
        #expect(NotificationRows(entries, filter: .notShown, unreadCounts: [:]).rows.count == 2)
        #expect(NotificationRows([], filter: .all, unreadCounts: [:]).rows == [])
    }

    @Test func `a collapsed section has its header and no entries`() {
        let plan = NotificationRows(entries, filter: .all, unreadCounts: unreadCounts, collapsedApps: ["b", "x"])
        #expect(plan.entries.map(\.entry) == [8, 6])
        #expect(plan.rows.first == .section(.init(appID: "b", name: "Chat", isUnverified: false, unreadCount: 3333)))
    }

    @Test func `a row's key does not depend on its content, and keys are unique`() {
        let keys = NotificationRows(entries, filter: .all, unreadCounts: [:]).rows.map(\.key)
        #expect(Set(keys).count == keys.count)
        let read = NotificationRows([SampleRecords.entry(9, isRead: true)], filter: .all, unreadCounts: [:]).rows[1].key
        let unread = NotificationRows([SampleRecords.entry(9, isRead: false)], filter: .all, unreadCounts: [:]).rows[1]
            .key
        #expect(read == unread)
    }

    @Test(arguments: InboxFilter.allCases)
    func `an empty list explains why it is empty, for each filter`(filter: InboxFilter) {
        func text(searching: Bool = false, off: Bool = false, paired: Bool = true, agent: Bool = true)
            -> EmptyInboxText
        {
            EmptyInboxText(
                isSearching: searching, filter: filter, isSwitchedOff: off, isPaired: paired, hasAgent: agent)
        }
        #expect(text().title == "No Notifications" && !text().advice.isEmpty)
        #expect(text(searching: true).title == "Nothing Found")
        let start = filter == .unread ? "No unread notification" : "No notification"
        #expect(text(searching: true).advice.hasPrefix(start))
        #expect(text(searching: true).advice.contains("in this list") == (filter == .notShown))
        #expect(text(off: true).advice.contains("turned off"))
        #expect(text(paired: false).advice.contains("server"))
        #expect(text(searching: true, agent: false).title == "Service Not Running")
    }
}
