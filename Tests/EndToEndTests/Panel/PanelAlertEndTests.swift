// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelAlertEndToEnd {
    /// Checks the ways in which alerts end, and the panel's behavior afterwards.
    struct PanelAlertEndTests {
        @Test(.tags(.slow)) func `every way out except View means Close and opens nothing`() async throws {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await end("Escape.", in: scene) { try await scene.press("Escape") }
            try await end("The window.", in: scene) { try await scene.press("alt+F4") }
            try await end("The button.", in: scene) { try await scene.click("button", "Close") }
            let single = #"{"aps":{"alert":{"title":"OK","body":"One button.","action-loc-key":null}}}"#
            try await end("One button.", in: scene, payload: single) {
                #expect(try await scene.contents().answers.map(\.name) == ["OK"])
                try await scene.click("button", "OK")
            }
            #expect(scene.opened.isEmpty)
        }

        /// Shows an alert, ends it as a user does, and checks that the agent records it as closed.
        private func end(
            _ body: String, in scene: PanelScene, payload: String? = nil, _ action: () async throws -> Void
        ) async throws {
            try await scene.send(payload ?? PanelScene.alert(body))
            try await scene.answer(body, becoming: "closed", action)
            try await scene.waitUntilEmpty()
        }

        @Test(.tags(.slow)) func `SIGTERM closes the alert on the screen, and a new panel shows the next`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send(["First.", "Second."].map(PanelScene.alert))
            try await scene.wait("the first is on the screen") { $0.texts.contains("First.") }
            let ended = try await scene.signalPanel(SIGTERM)
            try await scene.waitUntil("First.", is: "closed")
            try await scene.wait("the second is on the screen") { $0.texts.contains("Second.") }
            #expect(try await scene.panelProcess() != ended)
            try await scene.waitUntil("Second.", is: "shown")
            #expect(scene.opened.isEmpty)
        }

        @Test(.tags(.slow)) func `no other program can end the panel over the bus`() async throws {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send(PanelScene.alert("Stays."))
            try await scene.wait("it is on the screen") { $0.texts.contains("Stays.") }
            let process = try await scene.panelProcess()
            for action in ["quit", "close", "exit"] {
                _ = try await scene.screen.bus.busctl(
                    "call", PanelScene.busName, "/org/posthorn/Panel", "org.freedesktop.Application", "ActivateAction",
                    "sava{sv}", action, "0", "0")
            }
            let listed = try await scene.screen.bus.busctl(
                "call", PanelScene.busName, "/org/posthorn/Panel", "org.gtk.Actions", "List")
            let actions = listed.output.split(separator: "\"").filter { $0.contains("-") }.sorted()
            #expect(listed.output.hasPrefix("as 3 "))
            #expect(actions == ["show-alerts", "show-notifications", "show-settings"])
            #expect(try await scene.panelProcess() == process)
            try await scene.answer("Stays.", becoming: "viewed") { try await scene.press("Return") }
        }

        @Test(.tags(.slow)) func `an alert outlives panel and agent, and is answered once`() async throws {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send(PanelScene.alert("Still here."))
            try await scene.wait("it is on the screen") { $0.texts.contains("Still here.") }
            let first = try await scene.signalPanel(SIGKILL)
            try await scene.wait("the same is there again") { $0.texts.contains("Still here.") }
            #expect(try await scene.panelProcess() != first)

            let second = try await scene.panelProcess()
            try await scene.user.agent.killNow()
            #expect(try await scene.contents().texts.contains("Still here."), "the window stays without an agent")
            try await scene.user.startAgent()
            try await scene.wait("it is there, once") { $0.windows.count == 1 && $0.texts.contains("Still here.") }
            #expect(try await scene.panelProcess() == second)
            try await scene.answer("Still here.", becoming: "viewed") { try await scene.press("Return") }
            try await scene.waitUntilEmpty()
            try await eventually("the app is open") { scene.opened.count == 1 }
        }

        @Test(.tags(.slow)) func `an answer without a running agent is sent to the next one`() async throws {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send(PanelScene.alert("Closed without one."))
            try await scene.wait("it is on the screen") { $0.texts.contains("Closed without one.") }
            try await scene.user.agent.killNow()
            try await eventually("the window is gone") {
                try await scene.rest()
                try await scene.press("Escape")
                return try await scene.contents().nodes.isEmpty
            }
            // The pause is longer than the panel stays without a window and without a pending answer.
            try await Task.sleep(for: .seconds(7))
            try await scene.user.startAgent()
            try await scene.waitUntil("Closed without one.", is: "closed")
        }

        @Test(.tags(.slow)) func `twenty alerts are shown one at a time, oldest first`() async throws {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            let bodies = (1...20).map { "Number \($0)." }
            try await scene.send(bodies.map(PanelScene.alert))
            for body in bodies {
                let contents = try await scene.wait("'\(body)' is on the screen") { $0.texts.contains(body) }
                #expect(contents.windows.count == 1, "\(contents.transcript)")
                try await eventually("'\(body)' is gone") {
                    let contents = try await scene.contents()
                    // The click must not answer the next alert.
                    guard contents.texts.contains(body), let close = contents.first("button", "Close") else {
                        return true
                    }
                    try await scene.reader.press(close)
                    return false
                }
            }
            try await scene.wait("the last is gone") { $0.nodes.isEmpty }
            let entries = try await scene.user.inbox()
            #expect(entries.map(\.state) == Array(repeating: "closed", count: 20), "\(entries)")
        }

        @Test(.tags(.slow)) func `alerts that look the same are shown as one, and cleared ones leave the screen`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            let twins = [1, 2].map { #"{"aps":{"alert":{"title":"Twin","body":"Same."}},"mail":{"id":\#($0)}}"# }
            try await scene.send(twins + [PanelScene.alert("Another.")])
            try await scene.answer("Same.", becoming: "closed") { try await scene.click("button", "Close") }
            #expect(try await scene.user.inbox().filter { $0.body == "Same." }.map(\.state) == ["closed", "closed"])
            try await scene.wait("the other one is next") { $0.texts.contains("Another.") }
            try await scene.user.posthorn("inbox", "clear", "--yes")
            try await scene.wait("it is gone with its entry") { $0.nodes.isEmpty }
        }

        @Test(.tags(.slow)) func `a panel without anything to show ends`() async throws {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send(PanelScene.alert("Only one."))
            try await scene.answer("Only one.", becoming: "closed") { try await scene.press("Escape") }
            try await eventually("the panel has ended") { try await scene.panelProcess() == nil }
        }
    }
}
