// SPDX-License-Identifier: Apache-2.0

/// The notification list: a section for each app, the app with the newest notification first, and newest first in each.
package struct NotificationRows: Equatable, Sendable {
    /// What is listed.
    package enum Filter: CaseIterable, Sendable {
        case all, unseen, notShown

        /// Whether an entry belongs to it.
        package func takes(_ entry: EntryFacts) -> Bool {
            switch self {
            case .all: true
            case .unseen: !entry.isRead
            case .notShown: entry.reasonNotShown != nil
            }
        }
    }

    /// The head of a section.
    package struct Section: Equatable, Sendable {
        /// Whose notifications follow; empty for those of no app.
        package var appID: String
        /// For people.
        package var name: String
        /// How many of the app's are new, listed or not.
        package var unseenCount: Int
    }

    /// One row.
    package enum Row: Equatable, Sendable {
        case section(Section)
        case entry(EntryFacts)

        /// What tells it from every other row, whatever it says.
        package var key: String {
            switch self {
            case .section(let section): "section \(section.appID)"
            case .entry(let entry): "entry \(entry.entry)"
            }
        }
    }

    /// From top to bottom.
    package var rows: [Row]

    /// Puts entries into rows.
    ///
    /// - Parameters:
    ///   - entries: Newest first.
    ///   - filter: Which of them.
    ///   - unseenCounts: How many are new in the whole inbox, by app.
    package init(_ entries: [EntryFacts], filter: Filter, unseenCounts: [String: Int]) {
        var order: [String] = []
        var entriesByApp: [String: [EntryFacts]] = [:]
        for entry in entries where filter.takes(entry) {
            if entriesByApp[entry.appID] == nil { order.append(entry.appID) }
            entriesByApp[entry.appID, default: []].append(entry)
        }
        rows = order.flatMap { appID -> [Row] in
            let entries = entriesByApp[appID] ?? []
            let section = Section(
                appID: appID, name: Self.name(of: entries), unseenCount: unseenCounts[appID] ?? 0)
            return [.section(section)] + entries.map { .entry($0) }
        }
    }

    private static func name(of entries: [EntryFacts]) -> String {
        let name = entries.first?.appName ?? ""
        return name.isEmpty ? tr("Unknown app") : name
    }

    /// The entries alone, in the same order.
    package var entries: [EntryFacts] {
        rows.compactMap { row in
            switch row {
            case .section: nil
            case .entry(let entry): entry
            }
        }
    }
}
