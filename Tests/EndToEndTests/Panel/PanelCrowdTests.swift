// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelListEndToEnd {
    /// Checks a panel with more content than fits on a screen: its rows, its requests to the agent, and its search.
    struct PanelCrowdTests {
        /// Returns the rows of notifications, by their bodies.
        private func entries(_ contents: ScreenContents) -> [String] {
            contents.all("list item").map(\.name).filter { $0.contains("Alert, ") }.compactMap { name in
                name.split(separator: ", ").first { $0.hasSuffix(".") }.map(String.init)
            }
        }

        @Test(.tags(.slow)) func `ten thousand notifications and two hundred apps are usable`() async throws {
            let scene = try await PanelScene()
            try await fill(scene)
            try await registerApps(199, in: scene)
            try await scene.openPanel()
            try await scene.wait("the newest is on top, and all are counted") { contents in
                entries(contents).first == "Number 10999."
                    && contents.first("list item", "\(PanelScene.appName), 10000 unread") != nil
            }
            try await makesFewRows(scene)
            // The panel has loaded as many as one answer has, and loads them all again.
            try await scene.send(PanelScene.alert("Number 11000."))
            try await scene.press("Home")
            try await scene.wait("a newer one is on top") { entries($0).first == "Number 11000." }
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

        /// Adds one suppressed notification and 9,999 others, all but the last while no agent runs.
        private func fill(_ scene: PanelScene) async throws {
            try await scene.user.posthorn("settings", "set", "inbox-count", "20000")
            try await scene.user.posthorn("settings", "set", PanelScene.app, "MAIL", "alert", "off")
            try await scene.send(#"{"aps":{"alert":{"title":"Alert","body":"Kept away."},"category":"MAIL"}}"#)
            try await scene.waitUntil("Kept away.", is: "suppressed")
            try await scene.user.agent.killNow()
            let script = """
                import sqlite3, sys
                columns = "sequence, app_id, topic, apns_id, received_ms, accepted_ms, title, payload"
                with sqlite3.connect(sys.argv[1]) as database:
                    database.execute(
                        f"INSERT INTO inbox (unique_id, {columns}, body, state, effects) "
                        "WITH RECURSIVE numbers(i) AS (SELECT 1001 UNION ALL SELECT i + 1 FROM numbers WHERE i < 10998) "
                        f"SELECT unique_id || i, {columns}, 'Number ' || i || '.', 'shown', 'alert' FROM numbers, inbox "
                        "ORDER BY i")
                """
            try await RunningProcess.run(RepositoryPaths.tool("python3"), ["-c", script, scene.user.databasePath])
                .succeeded()
            try await scene.user.startAgent()
            try await scene.user.waitUntilConnected()
            try await scene.send(PanelScene.alert("Number 10999."))
            try await scene.user.waitForEntry("it came") { $0.body == "Number 10999." }
        }

        /// Checks that rows exist only for the visible part of the list and its surroundings, wherever the user has
        /// scrolled.
        private func makesFewRows(_ scene: PanelScene) async throws {
            // GTK keeps up to 200 rows, whatever the length of the list, and some more at its edges.
            let rowCountMax = 250
            func rowCount() async throws -> Int {
                try await scene.reader.count(in: try await scene.waitFor("list", "Notifications"))
            }
            #expect((5...rowCountMax).contains(try await rowCount()))
            try await rollDown(in: scene)
            // GTK keeps the row with the focus, too.
            try await scene.wait("rows below are there") { entries($0).contains { $0.hasPrefix("Number 9") } }
            #expect((5...rowCountMax).contains(try await rowCount()))
        }

        /// Turns the wheel over the list by a large distance.
        private func rollDown(in scene: PanelScene) async throws {
            let window = try #require(try await scene.contents().windows.first)
            let origin = try await scene.origin(of: window)
            try await scene.screen.xdotool(
                "mousemove", "\(origin.x + window.width / 2)", "\(origin.y + window.height / 2)", "click", "--repeat",
                "100", "--delay", "2", "5"
            ).succeeded()
        }

        /// Checks that the filters and the search cover the whole inbox.
        private func findsWhatIsNotLoaded(_ scene: PanelScene) async throws {
            try await scene.click("button", "Not Shown")
            try await scene.wait("the oldest of all is found") { entries($0) == ["Kept away."] }
            try await scene.press("ctrl+f")
            try await scene.type("zebra")
            try await scene.wait("it says what was looked through") {
                $0.texts.contains("No notification in this list contains all of these words.")
            }
            try await scene.click("button", "All")
            try await scene.press("ctrl+f", "ctrl+a")
            try await scene.type("Number 1017.")
            try await scene.wait("one of the oldest is found") { entries($0) == ["Number 1017."] }
        }

        /// Checks that typing, while the agent does not answer, sends one request and then one for the final text.
        private func asksOneThingAtATime(_ scene: PanelScene) async throws {
            let monitor = try await scene.screen.bus.monitor("type='method_call',member='SearchInbox'")
            func callCount() -> Int { monitor.output.components(separatedBy: "member=SearchInbox").count - 1 }
            try await scene.user.agent.now.freeze()
            try await scene.press("ctrl+f", "ctrl+a")
            try await scene.screen.xdotool("type", "--delay", "250", "Number 10").succeeded()
            try await eventually("it asks") { callCount() > 0 }
            // The search entry waits for 150 ms without a key, so every request has been sent by now.
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
                unix-socket = "\(scene.stack.server.admin.path)"
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
