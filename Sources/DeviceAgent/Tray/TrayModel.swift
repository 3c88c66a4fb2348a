// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import LinuxDesktop
internal import PushCore
internal import PushNet

/// The agent's state as the tray shows it.
struct TrayModel {
    /// The maximum number of notifications in the menu.
    static let entryCountMax = 5
    private static let titleScalarCountMax = 48
    private static let appNameScalarCountMax = 24

    /// A notification in the menu, with unsanitized texts.
    struct Entry {
        var number: EntryID
        /// The text of the notification; nil if it is hidden or the notification has none.
        var title: String?
        var appName: String
        /// Whether the name is from the .desktop file, from an installed manifest or from the user.
        var isVerified = true
    }

    /// The state of Do Not Disturb.
    enum Quiet: Equatable {
        case off
        /// The user switched it on; the end is a time of the day, or nil if there is no end, or if it is a
        /// day or more away.
        case on(end: String?)
        /// Only the schedule switches it on now.
        case scheduled
    }

    /// The commands of the menu.
    enum Command: Equatable {
        case toggleQuiet
        case openList
        case markAllRead
        case open(EntryID)
    }

    var unreadCount: Int64
    /// The newest notifications, newest first.
    var entries: [Entry]
    var quiet: Quiet
    /// Whether the administrator locked Do Not Disturb.
    var isQuietLocked: Bool

    // MARK: Content

    var content: TrayContent {
        TrayContent(
            title: "Posthorn", iconName: unreadCount > 0 ? Self.unreadIconName : Self.iconName, toolTip: toolTip,
            label: unreadCount > 99 ? "99+" : unreadCount > 0 ? "\(unreadCount)" : "", menu: menu)
    }

    private static let iconName = "org.posthorn.Panel-tray-symbolic"
    private static let unreadIconName = "org.posthorn.Panel-tray-unread-symbolic"

    private var toolTip: String {
        guard unreadCount > 0 else { return tr("No unread notifications") }
        let count = Int(clamping: unreadCount)
        return MessageCatalog.text("%d unread notification", "%d unread notifications", count: count)
            .replacing("%d", with: "\(count)")
    }

    private var menu: [TrayMenuItem] {
        let listed = entries.map { TrayMenuItem(id: Self.id(of: $0.number), label: Self.label(of: $0)) }
        let separators = (0..<2).map { TrayMenuItem(id: Self.separatorIDs + $0, kind: .separator) }
        return listed + (listed.isEmpty ? [] : [separators[0]]) + [
            TrayMenuItem(
                id: Self.quietID, kind: .checkbox(isOn: quiet != .off), label: quietLabel,
                isEnabled: !isQuietLocked && quiet != .scheduled),
            separators[1],
            TrayMenuItem(id: Self.listID, label: tr("Open Notifications")),
            TrayMenuItem(id: Self.markAllReadID, label: tr("Mark All as Read"), isEnabled: unreadCount > 0),
        ]
    }

    private var quietLabel: String {
        switch quiet {
        case .off, .on(end: nil): tr("Do Not Disturb")
        case .on(let end?): tr("Do Not Disturb until %1").replacing("%1", with: end)
        case .scheduled: tr("Do Not Disturb (scheduled)")
        }
    }

    private static func label(of entry: Entry) -> String {
        let title = line(entry.title ?? "", titleScalarCountMax)
        let name = line(entry.appName, appNameScalarCountMax)
        // The remark comes first, so that no name is long enough to displace it.
        let app = entry.isVerified ? name : "\(tr("unverified")): \(name)"
        return "\(title.isEmpty ? tr("Notification") : title) — \(app)"
    }

    /// Returns a text as one sanitized line.
    private static func line(_ text: String, _ scalarCountMax: Int) -> String {
        let lines = DisplayText.plain(text, scalarCountMax: scalarCountMax).unicodeScalars.split(separator: "\n")
        return lines.map { String($0) }.joined(separator: " ")
    }

    // MARK: Identifiers

    private static let quietID = 1
    private static let listID = 2
    private static let markAllReadID = 3
    private static let separatorIDs = 4
    private static let firstEntryID = 100

    private static func id(of number: EntryID) -> Int { firstEntryID + Int(number.rawValue) }

    /// Returns the command of a menu item; nil for an ID that the menu does not have.
    func command(_ id: Int) -> Command? {
        switch id {
        case Self.quietID: .toggleQuiet
        case Self.listID: .openList
        case Self.markAllReadID: .markAllRead
        default: entries.first { Self.id(of: $0.number) == id }.map { .open($0.number) }
        }
    }
}
