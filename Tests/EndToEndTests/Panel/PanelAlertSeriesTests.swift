// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelAlertEndToEnd {
    /// Checks several alerts that wait at once, and the pause that protects them.
    struct PanelAlertSeriesTests {
        private func states(in scene: PanelScene) async throws -> [String] { try await scene.user.inbox().map(\.state) }

        @Test(.tags(.slow)) func `twenty quick presses of Escape close twenty alerts`() async throws {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send((1...20).map { PanelScene.alert("Number \($0).") })
            try await scene.wait("all of them wait") { $0.texts.contains("1 of 20") }
            try await scene.rest()
            let keys = Array(repeating: "Escape", count: 20)
            try await RunningProcess.run(
                RepositoryPaths.tool("xdotool"), ["key", "--delay", "250"] + keys, environment: scene.screen.environment
            ).succeeded()
            try await scene.waitUntilEmpty()
            try await eventually("all are closed") {
                try await states(in: scene) == Array(repeating: "closed", count: 20)
            }
            #expect(scene.opened.isEmpty)
        }

        @Test(.tags(.slow)) func `quick presses of Escape close the first alert of a series, too`() async throws {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            let keys = Array(repeating: "Escape", count: 200)
            let hands = try RunningProcess(
                RepositoryPaths.tool("xdotool"), ["key", "--delay", "250"] + keys, environment: scene.screen.environment
            )
            try await scene.send(PanelScene.alert("In the way."))
            try await scene.waitUntil("In the way.", is: "closed")
            #expect(hands.exit == nil, "the user never paused")
            try await hands.killNow()
            try await scene.screen.xdotool("keyup", "Escape").succeeded()
        }

        @Test(.tags(.slow)) func `each alert says how many wait, and Close All closes them all and opens nothing`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send(PanelScene.alert("Alone."))
            let alone = try await scene.wait("it is on the screen") { $0.texts.contains("Alone.") }
            #expect(alone.first("button", "Close All") == nil && !alone.texts.contains { $0.contains(" of ") })

            // The agent accepts 16 calls at once.
            try await scene.send((1...19).map { PanelScene.alert("Number \($0).") })
            let first = try await scene.wait("all of them wait") { $0.texts.contains("1 of 20") }
            #expect(first.texts.contains("Alone."), "the alert on the screen stays")
            #expect(first.all("button").map(\.name) == ["Close", "View", "Remind Me…", "Close All"])
            #expect(first.first("button", "View")?.isFocused == true)
            try await scene.answer("Alone.", becoming: "closed") { try await scene.press("Escape") }
            try await scene.wait("the next one is there") { $0.texts.contains("2 of 20") }
            try await eventually("none is on the screen") {
                try await scene.rest()
                if try await scene.contents().nodes.isEmpty { return true }
                try await scene.click("button", "Close All")
                return false
            }
            try await eventually("all are closed") {
                try await states(in: scene) == Array(repeating: "closed", count: 20)
            }
            #expect(scene.opened.isEmpty)

            try await scene.send(PanelScene.alert("Later."))
            let later = try await scene.wait("a later one is a new series") { $0.texts.contains("Later.") }
            #expect(later.first("button", "Close All") == nil)
        }

        @Test(.tags(.slow)) func `the last alert of a series has no Close All, and Return only answers one`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send(["First.", "Second."].map(PanelScene.alert))
            try await scene.wait("both wait") { $0.texts.contains("1 of 2") }
            try await scene.answer("First.", becoming: "closed") { try await scene.click("button", "Close") }
            let last = try await scene.wait("the second is there") { $0.texts.contains("Second.") }
            let (window, label) = (try #require(last.windows.first), try #require(last.first("label", "2 of 2")))
            #expect(abs(label.left + label.right - window.width) <= 2, "the position is centered: \(last.transcript)")
            #expect(last.texts.contains("2 of 2") && last.first("button", "Close All") == nil)
            #expect(last.first("button", "View")?.description.hasSuffix("2 of 2") == true, "screen readers say it")
            try await scene.answer("Second.", becoming: "viewed") { try await scene.press("Return") }
            #expect(try await states(in: scene) == ["viewed", "closed"])
        }

        @Test(.tags(.slow)) func `the title of the window is the name of the app whose alert is shown`() async throws {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            let bank = try await scene.registerItself("org.example.Bank", name: "Your Bank")
            try await scene.send(PanelScene.alert("First."))
            try await scene.wait("the first is there") { $0.texts.contains("First.") }
            try await scene.send(PanelScene.alert("Second."), to: bank, of: "org.example.Bank")
            try await scene.wait("both wait") { $0.texts.contains("1 of 2") }
            try await scene.answer("First.", becoming: "closed") { try await scene.press("Escape") }
            let second = try await scene.wait("the second is there") { $0.texts.contains("Second.") }
            let window = try #require(second.windows.first)
            #expect(window.name == "Your Bank")
            // The window is found by its title.
            _ = try await scene.frame(of: window)
        }

        @Test(.tags(.slow)) func `the pause of an alert is visible, and its window is busy`() async throws {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send(PanelScene.alert("Wait."))
            let ready = try await scene.wait("it accepts an answer") { contents in
                contents.first("button", "View") != nil && contents.windows.first?.states.contains("busy") == false
            }
            let view = try #require(ready.first("button", "View"))
            let before = try await scene.steadyPicture()
            let area = try #require(try await scene.area(of: view, in: ready))
            let hands = try RunningProcess(
                RepositoryPaths.tool("xdotool"), ["type", "--delay", "100", String(repeating: "abc", count: 500)],
                environment: scene.screen.environment)
            try await scene.wait("the window is busy") { $0.windows.first?.states.contains("busy") == true }
            try await eventually("the button is dim") {
                let (now, then) = (try await scene.picture().ink(of: area), before.ink(of: area))
                return now.map { $0.contrast } ?? 0 < (then.map { $0.contrast } ?? 0) / 2
            }
            try await hands.killNow()
            try await scene.screen.xdotool("keyup", "a", "b", "c").succeeded()
            try await scene.wait("it is ready again") { $0.windows.first?.states.contains("busy") == false }
            try await eventually("the button is as before") {
                try await scene.picture().ink(of: area)?.contrast == before.ink(of: area)?.contrast
            }
            #expect(try await states(in: scene) == ["shown"])
        }
    }
}
