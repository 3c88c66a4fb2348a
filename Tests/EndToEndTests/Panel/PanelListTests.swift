// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension EndToEnd {
    /// The list of notifications: what is in it, how it is searched and cleared.
    struct PanelListTests {
        /// A scene with notifications, oldest first, in the panel's open window.
        private func scene(_ bodies: [String], count: Int) async throws -> PanelScene {
            let scene = try await PanelScene()
            try await scene.send(bodies.map(PanelScene.alert))
            try await scene.user.waitForEntry("all came") { $0.body == bodies.last }
            try await scene.openPanel()
            try await scene.wait("they are listed") { entries($0).count == count }
            return scene
        }

        /// The rows of notifications, by the names that a screen reader says, without time and news.
        private func entries(_ contents: ScreenContents) -> [String] {
            contents.all("list item").map(\.name).filter { $0.contains("Alert, ") }.compactMap { name in
                name.split(separator: ", ").first { $0.hasSuffix(".") }.map(String.init)
            }
        }

        private func row(of body: String, in contents: ScreenContents) -> ScreenElement? {
            contents.first("list item") { $0.contains(body) }
        }

        @Test(.tags(.slow)) func `what came is listed newest first, searched as one types, and viewed`() async throws {
            let scene = try await scene(["Lunch at noon.", "Budget of May.", "Lunch moved."], count: 3)
            var contents = try await scene.contents()
            #expect(entries(contents) == ["Lunch moved.", "Budget of May.", "Lunch at noon."])
            #expect(contents.all("tab").first?.name == "Notifications, 3 new")
            #expect(contents.all("list item").first?.name.hasPrefix(PanelScene.appName) == true, "under its app")

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
            try await scene.wait("it is no news") { $0.all("tab").first?.name == "Notifications, 2 new" }
        }

        @Test(.tags(.slow)) func `one is cleared by a key, several by choosing, all by the sheet`() async throws {
            let scene = try await scene((1...5).map { "Number \($0)." }, count: 5)
            // One: the row that has the focus, or something in it.
            try await scene.moveFocus(to: "the fourth") { contents in
                row(of: "Number 4.", in: contents).flatMap { contents.inside($0).first("button", "Details") }
            }
            try await scene.press("Delete")
            try await scene.wait("it is gone") { entries($0) == ["Number 5.", "Number 3.", "Number 2.", "Number 1."] }

            // Several, and only after the sheet's own button.
            try await scene.click("button", "Edit")
            for body in ["Number 3.", "Number 1."] {
                try await scene.click(body) { row(of: body, in: $0) }
            }
            try await scene.click("button", "Clear 2")
            let sheet = try await scene.wait("the sheet is there") { $0.first("button", "Cancel") != nil }
            #expect(sheet.all("button").suffix(2).map(\.name) == ["Clear 2 Notifications", "Cancel"])
            try await scene.press("Escape")
            try await scene.wait("the sheet is gone") { $0.first("button", "Cancel") == nil }
            #expect(try await scene.user.inbox().count == 4, "Escape is Cancel")
            try await scene.click("button", "Clear 2")
            try await scene.click("button", "Clear 2 Notifications")
            try await scene.wait("two are left") { entries($0) == ["Number 5.", "Number 2."] }

            try await scene.click("button", "Menu")
            try await scene.moveFocus(to: "the menu's item", by: "Down") { $0.first("menu item", "Clear All…") }
            try await scene.press("Return")
            try await scene.click("button", "Clear All Notifications")
            try await scene.wait("the list says that it is empty") { $0.texts.contains("No Notifications") }
            #expect(try await scene.user.inbox().isEmpty)
        }

        @Test(.tags(.slow)) func `why something was not shown is told on request, and leads to its app's settings`()
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
                contents.texts.contains { $0.contains("That was switched off for this kind of notification.") }
            }
            try await scene.click("list item", "Notification Settings")
            let switches = try await scene.wait("the settings are there") { $0.first("switch", "Alerts") != nil }
            #expect(switches.first("list item", "New mail")?.description == "Badges, Sounds")
            #expect(switches.first("button", "Details") != nil, "the way back has the name of the page before")
        }
    }
}
