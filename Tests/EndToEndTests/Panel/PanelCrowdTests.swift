// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension EndToEnd {
    /// The panel with more in it than fits on a screen: what it makes, what it asks the agent, and what it finds.
    struct PanelCrowdTests {
        /// The rows of notifications, by their bodies.
        private func entries(_ contents: ScreenContents) -> [String] {
            contents.all("list item").map(\.name).filter { $0.contains("Alert, ") }.compactMap { name in
                name.split(separator: ", ").first { $0.hasSuffix(".") }.map(String.init)
            }
        }

        @Test(.tags(.slow)) func `a thousand notifications and two hundred apps can be used`() async throws {
            let scene = try await PanelScene()
            try await sendMany(in: scene) { try await registerApps(199, in: scene) }
            try await scene.openPanel()
            try await scene.wait("the newest is on top") { entries($0).first == "Number 2000." }
            try await makesFewRows(scene)
            try await findsWhatIsNotLoaded(scene)
            try await asksOneThingAtATime(scene)
            try await scene.click("tab", "Apps")
            let tiles = try await scene.wait("apps are there") { !apps($0).isEmpty }
            #expect(apps(tiles).allSatisfy { $0.width >= 44 && $0.height >= 44 })
            try await scene.click("tab", "Settings")
            try await scene.click("list item", "App 150")
            try await scene.click("switch", "Badges")
            try await scene.waitUntil("badge", of: "org.example.app150", has: "off")
        }

        /// One notification that is kept away, and 1,100 that are not: more than the panel reads by itself.
        ///
        /// Other work in between gives the server's limit for one token time to let more through.
        private func sendMany(in scene: PanelScene, _ work: () async throws -> Void) async throws {
            try await scene.user.posthorn("settings", "set", "inbox-count", "2000")
            try await scene.user.posthorn("settings", "set", PanelScene.app, "MAIL", "alert", "off")
            try await scene.send(#"{"aps":{"alert":{"title":"Alert","body":"Kept away."},"category":"MAIL"}}"#)
            try await scene.waitUntil("Kept away.", is: "suppressed")
            try await scene.send((901...1899).map { PanelScene.alert("Number \($0).") }, concurrency: 50)
            try await work()
            try await scene.send((1900...1999).map { PanelScene.alert("Number \($0).") }, concurrency: 50)
            try await scene.send(PanelScene.alert("Number 2000."))
            try await scene.user.waitForEntry("all came") { $0.body == "Number 2000." }
        }

        /// Rows exist for what is on the screen and around it, wherever the person has rolled to.
        private func makesFewRows(_ scene: PanelScene) async throws {
            // GTK keeps up to 200, whatever the length of the list, and some more on its edges.
            let rowCountMax = 250
            func rowCount() async throws -> Int {
                try await scene.reader.count(in: try await scene.waitFor("list", "Notifications"))
            }
            #expect((5...rowCountMax).contains(try await rowCount()))
            try await rollDown(in: scene)
            try await scene.wait("rows below are there") { !entries($0).contains("Number 2000.") }
            #expect((5...rowCountMax).contains(try await rowCount()))
        }

        /// Turns the wheel over the list a good deal.
        private func rollDown(in scene: PanelScene) async throws {
            let window = try #require(try await scene.contents().windows.first)
            let origin = try await scene.origin(of: window)
            try await scene.screen.xdotool(
                "mousemove", "\(origin.x + window.width / 2)", "\(origin.y + window.height / 2)", "click", "--repeat",
                "100", "--delay", "2", "5"
            ).succeeded()
        }

        /// What the filters and the search find is of the whole inbox.
        private func findsWhatIsNotLoaded(_ scene: PanelScene) async throws {
            try await scene.click("button", "Not Shown")
            try await scene.wait("the oldest of all is found") { contents in
                if entries(contents).contains("Kept away.") { return true }
                // Others came too many at once.
                try await rollDown(in: scene)
                return false
            }
            try await scene.press("ctrl+f")
            try await scene.type("zebra")
            try await scene.wait("it says what was looked through") {
                $0.texts.contains("No notification that was not shown has all of these words.")
            }
            try await scene.click("button", "All")
            try await scene.press("ctrl+f", "ctrl+a")
            try await scene.type("Number 1017.")
            try await scene.wait("one of the oldest is found") { entries($0) == ["Number 1017."] }
        }

        /// Typing while the agent answers nothing asks it once, and then for what is typed by then.
        private func asksOneThingAtATime(_ scene: PanelScene) async throws {
            let monitor = try await scene.screen.bus.monitor("type='method_call',member='SearchInbox'")
            func callCount() -> Int { monitor.output.components(separatedBy: "member=SearchInbox").count - 1 }
            try await scene.user.agent.now.freeze()
            try await scene.press("ctrl+f", "ctrl+a")
            try await scene.screen.xdotool("type", "--delay", "250", "Number 10").succeeded()
            try await eventually("it asks") { callCount() > 0 }
            // The search entry waits for 150 ms without a key; what it would have asked by now is asked.
            try await scene.screen.xdotool("type", "--delay", "250", "23.").succeeded()
            #expect(callCount() == 1)
            scene.user.agent.now.send(SIGCONT)
            try await scene.wait("what was typed is found") { entries($0) == ["Number 1023."] }
            #expect(callCount() <= 4, "for what was typed at first, and for what is typed now")
        }

        private func apps(_ contents: ScreenContents) -> [ScreenElement] {
            contents.all("button").filter { $0.name.hasPrefix("App ") || $0.name.hasPrefix(PanelScene.appName) }
        }

        /// Adds apps to the server, with one curl for all, and registers them on the device.
        private func registerApps(_ count: Int, in scene: PanelScene) async throws {
            let requests = (1...count).map { number in
                """
                unix-socket = "\(scene.house.server.admin.path)"
                url = "http://posthorn/v1/apps"
                header = "content-type: application/json"
                data-binary = "{\\"topic\\":\\"org.example.app\(number)\\"}"
                fail

                """
            }
            try await RunningProcess.run(
                RepositoryPaths.tool("curl"), ["-sS", "-K", "-"], input: requests.joined(separator: "next\n")
            ).succeeded()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...count {
                    if number > 4 { try await group.next() }
                    group.addTask {
                        _ = try await scene.user.register("org.example.app\(number)", name: "App \(number)")
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
