// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceScreenEndToEnd {
    /// Checks the agent's item in the tray with a watcher and a host on a real bus: Providers/tray.py.
    struct TrayTests {
        /// A tray on the session bus of a user with one registered app.
        private struct Desk {
            let stack: TestStack
            let tray: ScriptedProcess

            init(prepare: (DeviceUser) throws -> Void = { _ in }) async throws {
                stack = try await TestStack(prepare: prepare)
                tray = try Desk.startTray(stack.bus)
            }

            static func startTray(_ bus: DesktopBus) throws -> ScriptedProcess {
                try ScriptedProcess(
                    systemScript: "Providers/tray.py", environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
            }

            func items() async throws -> [String] { try await tray.ask(Command(op: "items"), as: Items.self).items }

            func item() async throws -> Item { try await tray.ask(Command(op: "item")) }

            func menu() async throws -> [MenuItem] { try await tray.ask(Command(op: "menu"), as: Menu.self).menu }

            func choose(_ label: String, count: Int = 1) async throws {
                _ = try await tray.ask(Command(op: "choose", label: label, count: count), as: Done.self)
            }

            func waitForItem() async throws {
                try await wait("the item is in the tray") { try await !items().isEmpty }
            }

            func wait(_ what: String, _ condition: () async throws -> Bool) async throws {
                try await eventually(what, evidence: { stack.user.agent.now.transcript }, condition)
            }

            func send(_ payload: String) async throws {
                let sent = try await stack.provider.send(SentNotification(token: stack.token, payload: payload))
                guard sent.status == 200 else { throw RefusedMarker(result: sent) }
            }
        }

        private struct Command: Encodable {
            var op: String
            var label = ""
            var token = ""
            var count = 1
        }

        private struct Items: Decodable { let items: [String] }

        private struct Item: Decodable { let icon, text, label, status: String }

        private struct Menu: Decodable { let menu: [MenuItem] }

        private struct Signals: Decodable { let signals: [String] }

        private struct MenuItem: Decodable {
            let label, type: String
            let isEnabled, isOn: Bool
        }

        private static let quiet = "Do Not Disturb"

        @Test func `the item shows the unread count and the newest notifications, and marks all as read`()
            async throws
        {
            let desk = try await Desk()
            try await desk.waitForItem()
            let empty = try await desk.item()
            #expect(empty.text == "No unread notifications" && empty.label.isEmpty && empty.status == "Active")
            #expect(try await desk.menu().map(\.label) == [Self.quiet, "", "Open Notifications", "Mark All as Read"])

            try await desk.send(#"{"aps":{"alert":{"title":"a_b\u001b[1m\nc","body":"At noon"}}}"#)
            for number in 1...6 { try await desk.send(#"{"aps":{"alert":"Message \#(number)"}}"#) }
            try await desk.wait("it counts") { try await desk.item().text == "7 unread notifications" }
            let unread = try await desk.item()
            #expect(unread.label == "7" && unread.icon != empty.icon)
            let newest = (2...6).reversed().map { "Message \($0) — Example Mail" }
            #expect(try await desk.menu().prefix(6).map(\.label) == newest + [""])
            let signals = try await desk.tray.ask(Command(op: "signals"), as: Signals.self).signals
            #expect(Set(signals).isSuperset(of: ["NewIcon", "NewToolTip", "LayoutUpdated"]), "\(signals)")

            try await desk.choose("Mark All as Read")
            try await desk.wait("all are read") { try await desk.item().text == "No unread notifications" }
            #expect(try await desk.stack.user.inbox().allSatisfy(\.read))
            #expect(try await desk.item().icon == empty.icon)
        }

        @Test func `a call of the tray counts as one click, and has a limited length`() async throws {
            let desk = try await Desk()
            try await desk.waitForItem()
            try await desk.choose(Self.quiet, count: 1000)
            let settings = try await desk.stack.user.posthorn("settings", "list").output
            #expect(settings.contains(/do-not-disturb +on/))
            let token = String(repeating: "x", count: 70_000)
            let error = await #expect(throws: (any Error).self) {
                try await desk.tray.ask(Command(op: "open", token: token), as: Done.self)
            }
            #expect(error.map { "\($0)" }?.contains("more than 65536 bytes") == true)
        }

        @Test func `Do Not Disturb is switched on and off in the menu, unless the administrator locked it`()
            async throws
        {
            let desk = try await Desk()
            try await desk.waitForItem()
            func quiet() async throws -> MenuItem? {
                try await desk.menu().first { $0.label.hasPrefix(Self.quiet) }
            }
            func setting() async throws -> String {
                try await desk.stack.user.posthorn("settings", "list").output
            }
            try await desk.choose(Self.quiet)
            #expect(try await setting().contains(/do-not-disturb +on/))
            #expect(try await quiet()?.isOn == true)
            try await desk.choose(Self.quiet)
            #expect(try await setting().contains(/do-not-disturb +off/))
            #expect(try await quiet()?.isOn == false)

            let end = Int(Date.now.timeIntervalSince1970) + 3600
            try await desk.stack.user.posthorn("settings", "set", "do-not-disturb", "until \(end)")
            let until = try await quiet()
            #expect(until?.isOn == true && until?.label.contains(/until \d\d:\d\d$/) == true, "\(until as Any)")

            try await desk.stack.server.posthorn("policy", "set", "do-not-disturb", "on", "--lock")
            try await desk.wait("the menu follows the policy") { try await quiet()?.isEnabled == false }
            try await desk.choose(Self.quiet)
            #expect(try await quiet()?.isOn == true)
        }

        @Test func `a click opens the list, and a click on a notification opens its app`() async throws {
            let desk = try await Desk { user in
                let program = try user.files.write(
                    "#!/bin/sh\nprintf '%s' \"$POSTHORN_NOTIFICATION\" >'\(user.files.path(of: "opened"))'\n",
                    to: "mail.sh", permissions: 0o700)
                try user.files.makeDirectory("data/applications")
                try user.files.write(
                    "[Desktop Entry]\nType=Application\nName=Example Mail\nExec=\(program)\n",
                    to: "data/applications/\(TestStack.app).desktop", permissions: 0o644)
            }
            try await desk.waitForItem()
            let panel = try await desk.stack.bus.monitor(
                "interface='org.freedesktop.Application',member='ActivateAction'")
            _ = try await desk.tray.ask(Command(op: "activate", token: "token-42"), as: Done.self)
            try await desk.wait("the list is opened") {
                panel.output.contains("show-notifications") && panel.output.contains("token-42")
            }
            try await desk.send(#"{"aps":{"alert":"Lunch"}}"#)
            try await desk.wait("it is listed") { try await desk.menu()[0].label.hasPrefix("Lunch") }
            try await desk.choose("Lunch")
            try await desk.wait("the app is opened") { desk.stack.user.files.read("opened").contains("Lunch") }
            try await desk.wait("it is read") { try await desk.item().label.isEmpty }
        }

        @Test func `texts are hidden while the screen is locked, unless the app's previews are on`() async throws {
            let desk = try await Desk()
            let locker = try RunningProcess(
                "/usr/bin/python3", ["-m", "dbusmock", "--session", "--template", "gnome_screensaver"],
                environment: ["DBUS_SESSION_BUS_ADDRESS": desk.stack.bus.address])
            let name = "org.gnome.ScreenSaver"
            try await desk.stack.bus.waitForOwner(of: name, evidence: { locker.transcript })
            func lock(_ isLocked: Bool) async throws {
                let path = "/org/gnome/ScreenSaver"
                _ = try await desk.stack.bus.busctl("call", name, path, name, "SetActive", "b", "\(isLocked)")
            }
            try await desk.waitForItem()
            try await desk.send(#"{"aps":{"alert":"Secret"}}"#)
            try await desk.wait("it is listed") { try await desk.menu()[0].label == "Secret — Example Mail" }
            try await lock(true)
            try await desk.wait("it is hidden") { try await desk.menu()[0].label == "Notification — Example Mail" }
            try await desk.stack.user.posthorn("settings", "set", TestStack.app, "preview", "on")
            #expect(try await desk.menu()[0].label == "Secret — Example Mail")
            try await desk.stack.user.posthorn("settings", "set", TestStack.app, "preview", "off")
            #expect(try await desk.menu()[0].label == "Notification — Example Mail")
            try await lock(false)
            try await desk.wait("it is shown again") { try await desk.menu()[0].label == "Secret — Example Mail" }
        }

        @Test func `the item follows the setting, and a watcher that starts again`() async throws {
            let stack = try await TestStack()
            for _ in 1...2 {
                let tray = try Desk.startTray(stack.bus)
                func isShown() async throws -> Bool {
                    try await tray.ask(Command(op: "items"), as: Items.self).items.count == 1
                }
                let log = { stack.user.agent.now.transcript }
                try await eventually("it is shown", evidence: log) { try await isShown() }
                try await stack.user.posthorn("settings", "set", "tray", "off")
                try await eventually("it is removed", evidence: log) { try await !isShown() }
                try await stack.user.posthorn("settings", "set", "tray", "default")
                try await eventually("it is shown again", evidence: log) { try await isShown() }
            }
            try await eventually("without a watcher there is no item") {
                try await !stack.bus.busctl("list").output.contains("StatusNotifierItem")
            }
        }
    }
}
