// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import LinuxDesktop
import Testing

struct TrayModelTests {
    private static func model(
        unread: Int64 = 0, _ entries: [TrayModel.Entry] = [], quiet: TrayModel.Quiet = .off, isLocked: Bool = false
    ) -> TrayModel {
        TrayModel(unreadCount: unread, entries: entries, quiet: quiet, isQuietLocked: isLocked)
    }

    @Test(arguments: [
        (0, "No unread notifications", ""), (1, "1 unread notification", "1"), (2, "2 unread notifications", "2"),
        (99, "99 unread notifications", "99"), (100, "100 unread notifications", "99+"),
    ])
    func `the count is in the tooltip and beside the icon`(count: Int64, toolTip: String, label: String) {
        let content = Self.model(unread: count).content
        #expect(content.toolTip == toolTip && content.label == label)
        #expect(content.iconName.contains("unread") == (count > 0))
        #expect(content.menu.last?.isEnabled == (count > 0))
    }

    @Test func `texts of providers are one line, bounded, and without control characters`() {
        let long = String(repeating: "x", count: 500)
        let entries = [
            TrayModel.Entry(number: 3, title: "a\u{1B}[2J\nb\u{202E}c", appName: "Mail\nX"),
            TrayModel.Entry(number: 2, title: nil, appName: "Mail"),
            TrayModel.Entry(number: 1, title: long, appName: long, isVerified: false),
        ]
        let labels = Self.model(entries).content.menu.map(\.label)
        #expect(labels[0] == "a[2J bc — Mail X")
        #expect(labels[1] == "Notification — Mail")
        #expect(labels[2].unicodeScalars.count < 100 && labels[2].contains("… — unverified: xxx"), "\(labels[2])")
    }

    @Test(arguments: [
        (TrayModel.Quiet.off, false, "Do Not Disturb", true), (.on(end: nil), true, "Do Not Disturb", true),
        (.on(end: "22:00"), true, "Do Not Disturb until 22:00", true),
        (.scheduled, true, "Do Not Disturb (scheduled)", false),
    ])
    func `the checkbox shows Do Not Disturb`(quiet: TrayModel.Quiet, isOn: Bool, label: String, isEnabled: Bool) {
        let item = Self.model(quiet: quiet).content.menu[0]
        #expect(item.kind == .checkbox(isOn: isOn) && item.label == label && item.isEnabled == isEnabled)
        #expect(!Self.model(quiet: quiet, isLocked: true).content.menu[0].isEnabled)
    }

    @Test func `each item of the menu has its own ID, and each command is found by it`() {
        let model = Self.model(unread: 1, [.init(number: 12, title: "a", appName: "b")])
        let items = model.content.menu
        #expect(Set(items.map(\.id)).count == items.count && items.allSatisfy { $0.id > 0 })
        let commands = items.filter { $0.kind != .separator }.map { model.command($0.id) }
        #expect(commands == [.open(12), .toggleQuiet, .openList, .markAllRead])
        #expect(model.command(113) == nil)
    }
}
