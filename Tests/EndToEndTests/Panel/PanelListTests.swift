// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelListEndToEnd {
    /// Checks the list of notifications: its content, searching and clearing.
    struct PanelListTests {
        /// Starts a scene with notifications, oldest first, in the panel's open window.
        private func scene(_ bodies: [String], count: Int? = nil) async throws -> PanelScene {
            let scene = try await PanelScene()
            try await scene.send(bodies.map(PanelScene.alert))
            try await scene.user.waitForEntry("all came") { $0.body == bodies.last }
            try await scene.openPanel()
            try await scene.wait("they are listed") { contents in
                entries(contents).first == bodies.last && entries(contents).count == count ?? entries(contents).count
            }
            return scene
        }

        /// Returns the rows of notifications by their accessible names, without time and the mark of new entries.
        private func entries(_ contents: ScreenContents) -> [String] {
            contents.all("list item").map(\.name).filter { $0.contains("Alert, ") }.compactMap { name in
                name.split(separator: ", ").first { $0.hasSuffix(".") }.map(String.init)
            }
        }

        private func row(of body: String, in contents: ScreenContents) -> ScreenElement? {
            contents.first("list item") { $0.contains(body) }
        }

        @Test(.tags(.slow)) func `notifications are listed newest first, searched, and viewed`() async throws {
            let scene = try await scene(["Lunch at noon.", "Budget of May.", "Lunch moved."], count: 3)
            var contents = try await scene.contents()
            #expect(entries(contents) == ["Lunch moved.", "Budget of May.", "Lunch at noon."])
            #expect(contents.all("tab").first?.name == "Notifications, 3 unread")
            #expect(contents.all("list item").first?.name == "\(PanelScene.appName), 3 unread", "under its app")

            try await scene.press("ctrl+f")
            try await scene.type("lun")
            contents = try await scene.wait("two are found") { entries($0).count == 2 }
            #expect(entries(contents) == ["Lunch moved.", "Lunch at noon."])
            try await scene.type("xyz")
            try await scene.wait("nothing is found, and that is said") {
                entries($0).isEmpty && $0.texts.contains { $0.hasPrefix("No Result") || $0.hasPrefix("Nothing") }
            }
            try await scene.press("Escape")
            contents = try await scene.wait("all are back") { entries($0).count == 3 }

            try await scene.click("the budget") { row(of: "Budget of May.", in: $0) }
            try await scene.waitUntil("Budget of May.", is: "viewed")
            try await eventually("the app is open") { scene.opened.count == 1 }
            #expect(scene.opened[0].contains("Budget of May."))
            try await scene.wait("it is no news") { $0.all("tab").first?.name == "Notifications, 2 unread" }
        }

        @Test(.tags(.slow)) func `a line above the list explains suppressed alerts, and links to its switch`()
            async throws
        {
            let scene = try await scene(["Listed."])
            try await scene.user.posthorn("settings", "set", "do-not-disturb", "on")
            try await scene.click("button", "Do Not Disturb: On")
            try await scene.click("switch", "Do Not Disturb")
            try await scene.waitUntil("do-not-disturb", of: nil, has: "off")
            try await scene.press("Escape")
            try await scene.wait("the list is as it was") { contents in
                entries(contents) == ["Listed."] && !contents.all("button").contains { $0.name.hasPrefix("Do Not") }
            }
            try await scene.user.posthorn("settings", "set", "master", "off")
            try await scene.click("button", "All notifications are turned off.")
            try await scene.click("switch", "Notifications")
            try await scene.waitUntil("master", of: nil, has: "on")
        }

        @Test(.tags(.slow)) func `a panel that opens requests the list once`() async throws {
            let scene = try await PanelScene()
            try await scene.send((1...3).map { PanelScene.alert("Number \($0).") })
            try await scene.user.waitForEntry("all came") { $0.body == "Number 3." }
            let monitor = try await scene.screen.bus.monitor("path='/org/posthorn/Agent1'")
            try await scene.openPanel()
            try await scene.wait("all is answered") { contents in
                entries(contents).count == 3 && contents.all("tab").first?.name == "Notifications, 3 unread"
            }
            try await scene.viewList(untilTabIs: "Notifications")
            let mark = "member=MarkEntriesRead"
            try await eventually("it has said that they were seen") { monitor.output.contains(mark) }
            let before = monitor.output.components(separatedBy: mark)[0]
            let parts = before.components(separatedBy: "member=SearchInbox")
            // The agent shows alerts that waited for a panel, and each change permits one more request.
            // The signal of a change just before the first request may reach the panel after it.
            let changes = before.components(separatedBy: "member=InboxChanged").count - 1
            #expect((2...(2 + changes)).contains(parts.count), "\(before)")
        }

        @Test(.tags(.slow)) func `Delete clears one entry, a selection several, and the sheet all`() async throws {
            let scene = try await scene((1...5).map { "Number \($0)." }, count: 5)
            // The focused row is cleared, and the focus moves to the next row.
            try await focusList(in: scene)
            try await scene.moveFocus(to: "the fourth", by: "Down") { row(of: "Number 4.", in: $0) }
            try await scene.press("Delete")
            try await scene.wait("it is gone") {
                entries($0) == ["Number 5.", "Number 3.", "Number 2.", "Number 1."]
                    && row(of: "Number 3.", in: $0)?.isFocused == true
            }

            // Several rows are cleared only after the sheet's own button.
            try await scene.click("button", "Edit")
            for body in ["Number 3.", "Number 1."] {
                try await scene.click(body) { row(of: body, in: $0) }
            }
            try await scene.click("button", "Clear 2")
            let sheet = try await scene.wait("the sheet is there") { $0.first("button", "Cancel") != nil }
            #expect(sheet.all("button").suffix(2).map(\.name) == ["Clear 2 Notifications", "Cancel"])
            try await scene.press("Escape")
            try await scene.wait("the sheet is gone") { $0.first("button", "Cancel") == nil }
            try await eventually("only the one is cleared, because Escape is Cancel") {
                try await scene.user.inbox().count == 4
            }
            try await scene.click("button", "Clear 2")
            try await scene.click("button", "Clear 2 Notifications")
            try await scene.wait("two are left") { entries($0) == ["Number 5.", "Number 2."] }

            try await openSheetFromMenu(of: scene)
            try await scene.press("Escape")
            try await scene.wait("the sheet is gone") { $0.first("button", "Clear 2 Notifications") == nil }
            // The menu item that had the focus is gone, and keys must still work.
            try await scene.press("ctrl+3")
            try await scene.wait("the settings are there") { $0.first("switch", "Silence Sounds") != nil }
            try await scene.press("ctrl+1")
            try await openSheetFromMenu(of: scene)
            try await scene.click("button", "Clear 2 Notifications")
            try await scene.wait("the list says that it is empty") { $0.texts.contains("No Notifications") }
            #expect(try await scene.user.inbox().isEmpty)
        }

        private func openSheetFromMenu(of scene: PanelScene) async throws {
            try await scene.click("button", "Menu")
            try await scene.moveFocus(to: "the menu's item", by: "Down") { $0.first("menu item", "Clear All…") }
            try await scene.press("Return")
            try await scene.waitFor("button", "Cancel")
        }

        @Test(.tags(.slow)) func `entries that a search leaves out are not marked as read`() async throws {
            let scene = try await PanelScene()
            try await scene.openPanel()
            try await scene.type("budget")
            try await scene.wait("nothing is found") { $0.texts.contains("Nothing Found") }
            try await scene.send(["Lunch at noon.", "Budget of May.", "Lunch moved."].map(PanelScene.alert))
            try await scene.wait("one is found") { entries($0) == ["Budget of May."] }
            try await scene.viewList(untilTabIs: "Notifications, 2 unread")
            #expect(try await scene.user.inbox().filter(\.read).map(\.body) == ["Budget of May."])
            try await scene.press("ctrl+1", "Escape")
            try await scene.wait("all are listed") { entries($0).count == 3 }
            try await scene.viewList(untilTabIs: "Notifications")
        }

        @Test(.tags(.slow)) func `Down moves from the search to the first result, where keys act on rows`() async throws
        {
            let scene = try await scene(["Lunch at noon.", "Budget of May.", "Lunch moved."], count: 3)
            try await scene.press("ctrl+f")
            try await scene.type("lunch")
            try await scene.press("Down")
            try await scene.wait("the first result has the focus") { contents in
                entries(contents).count == 2 && row(of: "Lunch moved.", in: contents)?.isFocused == true
            }
            try await scene.press("Down", "plus", "plus", "Delete")
            let contents = try await scene.wait("the second one is cleared") { entries($0) == ["Lunch moved."] }
            #expect(contents.nodes.contains { $0.role == "text box" || $0.name == "Search" })
            try await eventually("it alone is removed") { try await scene.user.inbox().count == 2 }
        }

        @Test(.tags(.slow)) func `a notification whose clearing can be undone is neither counted nor cleared twice`()
            async throws
        {
            let scene = try await scene((1...3).map { "Number \($0)." }, count: 3)
            try await focusList(in: scene)
            try await scene.moveFocus(to: "the second", by: "Down") { row(of: "Number 2.", in: $0) }
            try await scene.press("Delete")
            try await scene.wait("the counts are without it, while it can be restored") { contents in
                contents.first("button") { $0.hasPrefix("Undo") } != nil
                    && contents.all("tab").first?.name == "Notifications, 2 unread"
                    && contents.all("list item").first?.name == "\(PanelScene.appName), 2 unread"
            }
            try await scene.click("button", "Clear all notifications of \(PanelScene.appName)")
            try await scene.wait("the sheet counts the others") { $0.first("button", "Clear 2 Notifications") != nil }
            try await scene.press("Escape")
        }

        @Test(.tags(.slow)) func `during a search, the menu's sheet clears only the search results`() async throws {
            let scene = try await scene(["Lunch at noon.", "Budget of May.", "Lunch moved."], count: 3)
            try await scene.press("ctrl+f")
            try await scene.type("lunch")
            try await scene.wait("two are found") { entries($0).count == 2 }
            try await openSheetFromMenu(of: scene)
            try await scene.click("button", "Clear 2 Notifications")
            try await scene.wait("nothing is found any more") { $0.texts.contains("Nothing Found") }
            #expect(try await scene.user.inbox().map(\.body) == ["Budget of May."])
        }

        /// Moves the focus to a row, as Tab does.
        private func focusList(in scene: PanelScene) async throws {
            try await scene.moveFocus(to: "the list") { $0.all("list item").first(where: \.isFocused) }
        }

        @Test(.tags(.slow)) func `rows are usable with keys alone, and read aloud on focus`() async throws {
            let scene = try await scene((1...20).map { "Number \($0)." })
            try await focusList(in: scene)
            try await scene.press("End")
            let last = try await scene.wait("the last one has the focus") {
                row(of: "Number 1.", in: $0)?.isFocused == true
            }
            let focused = try #require(last.focused)
            #expect(focused.name.hasPrefix("Unread, \(PanelScene.appName), Alert, Number 1., "), "\(focused.name)")
            #expect(focused.top > 0 && focused.bottom <= last.all("tab")[0].top, "and is in sight")
            try await scene.press("Up")
            try await scene.wait("the one above has it") { row(of: "Number 2.", in: $0)?.isFocused == true }

            // Tab moves to the row's controls, and then out of the list.
            try await scene.press("Tab")
            try await scene.wait("its whole text is offered") { $0.focused?.name == "Show All Text" }
            try await scene.press("Tab")
            try await scene.wait("its details have it") { $0.focused?.name == "Details" }
            try await scene.press("Tab")
            try await scene.wait("the list is left") { $0.focused?.role == "tab" }
            try await scene.press("shift+Tab")
            try await scene.wait("the row has it again") { row(of: "Number 2.", in: $0)?.isFocused == true }

            try await scene.press("Return")
            try await eventually("the app is open") { scene.opened.count == 1 }
            #expect(scene.opened[0].contains("Number 2."))
            try await scene.press("alt+Return")
            try await scene.wait("the details are there") { $0.first("list item", "Notification Settings") != nil }
            try await scene.press("Escape")
            try await scene.wait("the row has the focus, at its place") { contents in
                let row = row(of: "Number 2.", in: contents)
                return row?.isFocused == true && row?.top == focused.top - focused.height
            }
            try await scene.press("Home", "Delete")
            try await scene.wait("all of the app are to be cleared") {
                $0.first("button", "Clear 20 Notifications") != nil
            }
        }

        @Test(.tags(.slow)) func `a user who reads further down keeps the place when new entries come`() async throws {
            let scene = try await scene((1...20).map { "Number \($0)." })
            try await focusList(in: scene)
            try await scene.press("End")
            let before = try await scene.wait("the end is in sight") { row(of: "Number 1.", in: $0)?.isFocused == true }
            try await scene.send(PanelScene.alert("Number 21."))
            try await scene.send(PanelScene.alert("Number 22."))
            let after = try await scene.wait("they came") { $0.all("tab").first?.name == "Notifications, 22 unread" }
            #expect(row(of: "Number 1.", in: after)?.top == row(of: "Number 1.", in: before)?.top)
            try await scene.press("Home")
            try await scene.wait("the top is in sight") { row(of: "Number 22.", in: $0) != nil }
            try await scene.send(PanelScene.alert("Number 23."))
            try await scene.wait("at the top one sees what comes") { contents in
                guard let row = row(of: "Number 23.", in: contents), let scroller = contents.first("button", "All")
                else { return false }
                return row.top > scroller.bottom
            }
        }

        @Test(.tags(.slow)) func `a long clearing shows its progress, and can be stopped`() async throws {
            let scene = try await scene((1...150).map { "Number \($0)." })
            try await scene.click("button", "Edit")
            try await scene.click("button", "Select All")
            try await scene.click("button", "Clear 150")
            try await scene.waitFor("button", "Clear 150 Notifications")
            scene.user.agent.now.send(SIGSTOP)
            try await scene.click("button", "Clear 150 Notifications")
            let contents = try await scene.wait("it says how far it is") { $0.first("button", "Stop") != nil }
            #expect(contents.texts.contains("Clearing notifications: 0 of 150"))
            #expect(contents.first("progress bar", "Clearing notifications: 0 of 150") != nil)
            try await scene.click("button", "Stop")
            try await scene.wait("that is over") { $0.first("button", "Stop") == nil }
            scene.user.agent.now.send(SIGCONT)
            // The request that was running when it was stopped is completed.
            try await scene.wait("the others stay") { $0.all("tab").first?.name == "Notifications, 50 unread" }
            #expect(try await scene.user.inbox().count == 50)
        }

        @Test(.tags(.slow)) func `the reason for a suppressed alert is shown on request, and links to settings`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.send(PanelScene.alert("Waiting."))
            try await scene.user.posthorn("settings", "set", PanelScene.app, "MAIL", "alert", "off")
            try await scene.send(#"{"aps":{"alert":{"title":"Alert","body":"Kept away."},"category":"MAIL"}}"#)
            try await scene.waitUntil("Kept away.", is: "suppressed")
            try await scene.openPanel()
            try await scene.wait("both are listed") { entries($0).count == 2 }
            try await scene.click("button", "Not Shown")
            try await scene.wait("one is left") { entries($0) == ["Kept away."] }
            try await scene.click("button", "Details")
            try await scene.wait("it says why") { contents in
                contents.texts.contains { $0.contains("It was turned off for this kind of notification.") }
            }
            try await scene.click("list item", "Notification Settings")
            let switches = try await scene.wait("the settings are there") { $0.first("switch", "Alerts") != nil }
            #expect(switches.first("list item", "New mail")?.description == "Badges, Sounds")
            #expect(switches.first("button", "Details") != nil, "the way back has the name of the page before")
        }
    }
}
