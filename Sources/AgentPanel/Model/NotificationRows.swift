// SPDX-License-Identifier: Apache-2.0

internal import AgentBus

/// The rows of the notification list: a section per app, the most recent app first, newest notifications first.
struct NotificationRows: Equatable, Sendable {
    /// The header of a section.
    struct Section: Equatable, Sendable {
        /// The app ID; empty for notifications without a registered app.
        var appID: String
        /// The display name.
        var name: String
        /// Whether the app chose the name, and no installed app and no user confirmed it.
        var isUnverified: Bool
        /// The number of the app's new notifications, including those not in the list.
        var unreadCount: Int
    }

    enum Row: Equatable, Sendable {
        case section(Section)
        case entry(InboxRecord)

        /// The row's unique key, which does not depend on its content.
        var key: String {
            switch self {
            case .section(let section): "section \(section.appID)"
            case .entry(let entry): "entry \(entry.entry)"
            }
        }
    }

    /// The rows, from top to bottom.
    var rows: [Row]

    /// Groups entries into rows.
    ///
    /// - Parameters:
    ///   - entries: The entries, newest first.
    ///   - filter: The filter to apply.
    ///   - unreadCounts: The number of new notifications in the whole inbox, by app ID.
    ///   - collapsedApps: The IDs of the apps whose section has no entries below it.
    init(
        _ entries: [InboxRecord], filter: InboxFilter, unreadCounts: [String: Int], collapsedApps: Set<String> = []
    ) {
        var order: [String] = []
        var entriesByApp: [String: [InboxRecord]] = [:]
        for entry in entries where filter.takes(entry) {
            if entriesByApp[entry.appID] == nil { order.append(entry.appID) }
            entriesByApp[entry.appID, default: []].append(entry)
        }
        rows = order.flatMap { appID -> [Row] in
            let entries = entriesByApp[appID] ?? []
            let section = Section(
                appID: appID, name: Self.name(of: entries), isUnverified: entries.first?.isUnverified ?? false,
                unreadCount: unreadCounts[appID] ?? 0)
            return [.section(section)] + (collapsedApps.contains(appID) ? [] : entries.map { .entry($0) })
        }
    }

    private static func name(of entries: [InboxRecord]) -> String {
        let name = entries.first?.appTitle ?? ""
        return name.isEmpty ? tr("Unknown app") : name
    }

    /// The listed entries without the section headers, in the same order.
    var entries: [InboxRecord] {
        rows.compactMap { row in
            switch row {
            case .section: nil
            case .entry(let entry): entry
            }
        }
    }
}
