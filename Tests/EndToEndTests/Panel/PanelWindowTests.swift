// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelWindowEndToEnd {
    /// Checks the panel's window as a whole: tabs, grid, keys, languages, and its texts without an agent.
    struct PanelWindowTests {
        @Test(.tags(.slow)) func `icons show their badge and open their app, and the tab counts new entries`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.openPanel()
            try await scene.click("tab", "Apps")
            try await scene.send(#"{"aps":{"alert":"First.","badge":12345}}"#)
            let contents = try await scene.wait("the icon has its number") {
                $0.first("button", "\(PanelScene.appName), 12345 new items") != nil
            }
            let tile = try #require(contents.first("button", "\(PanelScene.appName), 12345 new items"))
            let badge = try #require(contents.inside(tile).first("label", "12345"))
            #expect(badge.left > tile.left + tile.width / 2 - badge.width && badge.top < tile.top + tile.height / 2)
            #expect(contents.first("tab", "Notifications, 1 unread") != nil)
            #expect(contents.first("tab", "Apps")?.isSelected == true, "the tab stays")
            try await scene.send(PanelScene.alert("Second."))
            try await scene.waitFor("tab", "Notifications, 2 unread")

            try await scene.user.posthorn("settings", "set", PanelScene.app, "badge", "off")
            try await scene.waitFor("button", PanelScene.appName)
            try await scene.click("button", PanelScene.appName)
            try await eventually("the app is open, without a notification") { scene.opened == ["nothing"] }

            try await scene.viewList(untilTabIs: "Notifications")
        }

        @Test(.tags(.slow)) func `an open panel without news sleeps`() async throws {
            let scene = try await PanelScene()
            try await scene.openPanel()
            let panel = try await eventualValue("a panel runs") { try await scene.panelProcess() }
            // The bound is far above the few timers of GTK and far below one wake for each frame.
            try await eventually("the panel wakes fewer than 20 times in a second") {
                let before = try Self.wakeCount(of: panel)
                try await Task.sleep(for: .seconds(1))
                return try Self.wakeCount(of: panel) - before < 20
            }
        }

        /// Returns how often the threads of a process have slept and been woken.
        private static func wakeCount(of process: Int32) throws -> Int {
            let tasks = "/proc/\(process)/task"
            return try FileManager.default.contentsOfDirectory(atPath: tasks).reduce(0) { sum, task in
                let line = readText("\(tasks)/\(task)/status").split(separator: "\n")
                    .first { $0.hasPrefix("voluntary_ctxt_switches:") }
                return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
            }
        }

        @Test(.tags(.slow))
        func `an app that does not open is reported in the user's language, on the tab in use`()
            async throws
        {
            let scene = try await PanelScene(language: "zh_TW")
            try FileManager.default.removeItem(atPath: scene.user.files.path(of: "app.sh"))
            try await scene.send(PanelScene.alert("午餐"))
            try await scene.openPanel()
            try await scene.click("the notification") { $0.first("list item") { $0.contains("午餐") } }
            try await scene.wait("it says so") { $0.texts.contains { $0.hasPrefix("這個應用程式尚未安裝。") } }
            #expect(try await scene.user.inbox().first?.reason.hasPrefix("app-not-installed: ") == true)
            try await scene.press("alt+2")
            try await scene.wait("it is said no more") { contents in
                contents.all("tab")[1].isSelected && !contents.texts.contains { $0.hasPrefix("這個應用程式尚未安裝。") }
            }
        }

        @Test(.tags(.slow)) func `a new app moves no icon and takes no focus while the icons are shown`() async throws {
            let scene = try await PanelScene()
            try await scene.openPanel()
            try await scene.click("tab", "Apps")
            try await scene.moveFocus(to: "the icon") { $0.first("button", PanelScene.appName) }
            let before = try await scene.waitFor("button", PanelScene.appName)
            try await scene.stack.server.posthorn("app", "add", "org.example.Aardvark")
            _ = try await scene.user.register("org.example.Aardvark", name: "Aardvark")
            let new = try await scene.waitFor("button", "Aardvark")
            let after = try await scene.waitFor("button", PanelScene.appName)
            #expect(after.isFocused && (after.left, after.top) == (before.left, before.top))
            #expect(new.left >= after.right || new.top >= after.bottom)
            try await scene.press("alt+3", "alt+2")
            try await scene.wait("they stand by name") { contents in
                contents.first("button", "Aardvark")?.left == before.left
            }
        }

        @Test(.tags(.slow)) func `an agent that ends and restarts is reported in the window, which stays up to date`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.openPanel()
            try await scene.user.agent.killNow()
            try await scene.wait("it says that the service does not run") { contents in
                contents.texts.contains { $0.hasPrefix("The notification service is not running.") }
            }
            try await scene.user.startAgent()
            try await scene.user.waitUntilConnected()
            try await scene.send(PanelScene.alert("After the restart."))
            try await scene.wait("that is over, and what came is there") { contents in
                !contents.texts.contains { $0.hasPrefix("The notification service is not running.") }
                    && contents.all("list item").contains { $0.name.contains("After the restart.") }
            }
            try await scene.click("tab", "Settings")
            try await scene.wait("it says since when there is a connection") { contents in
                contents.texts.contains { $0.hasPrefix("Connected since") }
            }
            try await scene.stack.server.process.killNow()
            try await scene.wait("it says when there last was one, and no alert is raised") { contents in
                contents.windows.count == 1 && contents.texts.contains { $0.contains("Last connected") }
            }
        }

        @Test(.tags(.slow)) func `every control is reachable with keys, in reading order`() async throws {
            let scene = try await PanelScene()
            try await scene.send(PanelScene.alert("One."))
            try await scene.openPanel()
            try await scene.wait("it is listed") { $0.all("list item").count == 2 }
            let focused = try await focusOrder(in: scene, count: 12)
            for name in ["Edit", "Menu", "Search", "All", "Show All Text", "Details", "Notifications, 1 unread"] {
                #expect(focused.contains(name), "\(name) in \(focused)")
            }
            try await scene.press("ctrl+1", "Home", "Tab", "Tab")
            try await scene.wait("the section's button has the focus") {
                $0.focused?.name == "Clear all notifications of Example Mail"
            }
            try await scene.press("alt+3")
            try await scene.wait("the settings are there") { $0.first("switch", "Silence Sounds") != nil }
            try await scene.moveFocus(to: "the switch") { $0.first("switch", "Silence Sounds") }
            try await scene.press("space")
            try await scene.waitUntil("silent", of: nil, has: "on")
            try await scene.press("ctrl+q")
            try await scene.waitUntilEmpty()
        }

        /// Returns the names of the elements that get the focus, one Tab after the other.
        private func focusOrder(in scene: PanelScene, count: Int) async throws -> [String] {
            var names: [String] = []
            for _ in 1...count {
                try await scene.press("Tab")
                if let name = try await scene.contents().focused?.name { names.append(name) }
            }
            return names
        }

        @Test(.tags(.slow)) func `every text is translated into Traditional Chinese`() async throws {
            let scene = try await PanelScene(language: "zh_TW")
            try await scene.useAlerts()
            try await scene.send(PanelScene.alert("午餐"))
            let alert = try await scene.wait("the alert is there") { $0.answers.count == 2 }
            #expect(alert.answers.map(\.name) == ["關閉", "查看"])
            try await scene.answer("午餐", becoming: "closed") { try await scene.click("button", "關閉") }
            try await scene.openPanel()
            let english = try await texts(ofTabsIn: scene).filter { text in
                text.contains { $0.isASCII && $0.isLetter } && !["Example Mail", "Alert"].contains(text)
            }
            #expect(english.isEmpty)
        }

        @Test(.tags(.slow)) func `every text is translated into German`() async throws {
            let scene = try await PanelScene(language: "de")
            try await scene.useAlerts()
            try await scene.send(PanelScene.alert("Mahlzeit!"))
            let alert = try await scene.wait("the alert is there") { $0.answers.count == 2 }
            #expect(alert.answers.map(\.name) == ["Schließen", "Ansehen"])
            try await scene.answer("Mahlzeit!", becoming: "closed") { try await scene.click("button", "Schließen") }
            try await scene.openPanel()
            let shown = try await texts(ofTabsIn: scene)
            #expect(shown.contains("Benachrichtigungen") && shown.contains("Einstellungen"))
            // The headline of the notification is a text of its sender.
            #expect(shown.filter { $0 != "Alert" && PanelScene.isEnglish($0, in: "de") } == [])
        }

        /// Returns the texts on the first page of each tab.
        private func texts(ofTabsIn scene: PanelScene) async throws -> [String] {
            var texts: [String] = []
            for tab in 1...3 {
                try await scene.press("alt+\(tab)")
                let contents = try await scene.wait("tab \(tab) is shown") {
                    $0.all("tab").count == 3 && $0.all("tab")[tab - 1].isSelected
                }
                texts += contents.texts
            }
            return texts
        }

        @Test(.tags(.slow), arguments: [(320, 480), (480, 320)])
        func `every page fits a small screen`(width: Int, height: Int) async throws {
            let scene = try await PanelScene(size: .init(width: width, height: height))
            try await scene.send(PanelScene.alert("One."))
            try await scene.openPanel()
            for tab in 1...3 {
                try await scene.press("alt+\(tab)")
                try await scene.wait("tab \(tab) fits") { contents in
                    contents.all("tab").count == 3 && contents.all("tab")[tab - 1].isSelected
                        && contents.fits(scene.screen.size)
                }
            }
            try await scene.click("list item", PanelScene.appName)
            let page = try await scene.wait("the app's page fits") {
                $0.first("switch", "Badges") != nil && $0.fits(scene.screen.size)
            }
            try isComplete(page, isNarrow: width < height)
            try await scene.click("button", "Turn Off All")
            try await scene.wait("the sheet fits") { contents in
                guard let window = contents.windows.first else { return false }
                let buttons = contents.all("button").suffix(2)
                return buttons.last?.name == "Cancel"
                    && buttons.allSatisfy { (0...window.height).contains($0.top) && $0.bottom <= window.height }
            }
        }

        /// Checks that the main parts of an app's page are visible, and nothing of its header is cut.
        private func isComplete(_ page: ScreenContents, isNarrow: Bool) throws {
            let tabs = try #require(page.all("tab").first)
            for name in isNarrow ? ["Badges", "Sounds", "Alerts", "Show Texts While Locked"] : ["Badges", "Sounds"] {
                #expect(try #require(page.first("switch", name)).bottom < tabs.top, "\(name)")
            }
            let back = try #require(page.first("button", "Settings"))
            #expect(page.inside(back).texts == (isNarrow ? [] : ["Settings"]), "narrow windows have an arrow alone")
            for button in [back, try #require(page.first("button", "Close"))] {
                #expect(button.width >= 44 && button.height >= 44, "\(button)")
            }
        }

        @Test(.tags(.slow)) func `starting the panel again shows the same window, and no warning`() async throws {
            let scene = try await PanelScene()
            try await scene.openPanel()
            let process = try await scene.panelProcess()
            let second = try await scene.openPanel("--settings")
            try await scene.wait("the settings are there") { $0.first("switch", "Silence Sounds") != nil }
            let third = try await scene.openPanel()
            for panel in [second, third] {
                try await eventually("it is over") { panel.exit != nil }
                #expect(panel.exit == .code(0) && panel.output + panel.errorOutput == "", "\(panel.transcript)")
            }
            #expect(try await scene.panelProcess() == process)
        }

        @Test(.tags(.slow)) func `without a session bus the panel ends and gives the reason`() async throws {
            let scene = try await PanelScene()
            var environment = scene.user.environment
            environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nowhere"
            for arguments in [[], ["--settings"]] {
                let result = try await RunningProcess.run(
                    RepositoryPaths.program("posthorn-panel"), arguments, environment: environment)
                #expect(result.exit == .code(1))
                #expect(result.errorOutput.contains("There is no session bus."), "\(result.errorOutput)")
            }
        }

        @Test func `the desktop entry passes desktop-file-validate`() async throws {
            let entry = "\(RepositoryPaths.root)/deploy/applications/org.posthorn.Panel.desktop"
            try await RunningProcess.run(RepositoryPaths.tool("desktop-file-validate"), [entry]).succeeded()
        }
    }
}
