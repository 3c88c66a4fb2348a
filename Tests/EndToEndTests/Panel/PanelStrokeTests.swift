// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelLookEndToEnd {
    /// Checks swipes of the pointer over the rows of the notification list.
    struct PanelStrokeTests {
        @Test(.tags(.slow)) func `a swipe to the left shows Clear, which clears, and other swipes have no effect`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.send((1...12).map { PanelScene.alert("Number \($0).") })
            try await scene.user.waitForEntry("all came") { $0.body == "Number 12." }
            try await scene.openPanel()
            try await scene.wait("they are listed") { row("Number 10.", in: $0) != nil }

            for (across, down) in [(-30, 0), (-20, 130), (160, 10)] {
                try await stroke(over: "Number 10.", across: across, down: down, in: scene)
            }
            // A later swipe has an effect. Any effects of the earlier ones would be visible by then.
            try await bringClear(over: "Number 11.", down: 8, in: scene)
            var contents = try await scene.contents()
            #expect(clearButtons(in: contents).count == 1)
            #expect(row("Number 11.", in: contents).map { contents.inside($0).first("button", "Clear") != nil } == true)
            #expect(scene.opened.isEmpty, "no stroke opens the app")

            try await stroke(over: "Number 11.", across: 100, down: 0, in: scene)
            try await scene.wait("a stroke back takes it away") { clearButtons(in: $0).isEmpty }
            #expect(try await scene.user.inbox().count == 12)

            try await bringClear(over: "Number 10.", down: 0, in: scene)
            try await scene.click("the button") { clearButtons(in: $0).first }
            contents = try await scene.wait("the entry is gone") { row("Number 10.", in: $0) == nil }
            #expect(row("Number 11.", in: contents) != nil && row("Number 9.", in: contents) != nil)
            try await eventually("it is removed") { try await scene.user.inbox().count == 11 }
            #expect(scene.opened.isEmpty)
        }

        /// Swipes to the left until the button appears, because a row that changes during a swipe moves back.
        private func bringClear(over body: String, down: Int, in scene: PanelScene) async throws {
            try await scene.wait("the button is there") { contents in
                if !clearButtons(in: contents).isEmpty { return true }
                try await stroke(over: body, across: -160, down: down, in: scene)
                return false
            }
        }

        private func row(_ body: String, in contents: ScreenContents) -> ScreenElement? {
            contents.first("list item") { $0.contains(body) }
        }

        /// Returns the Clear buttons of notifications, but not those of sections, which have another name.
        private func clearButtons(in contents: ScreenContents) -> [ScreenElement] {
            contents.all("list item").flatMap { row in
                contents.inside(row).all("button").filter { $0.name == "Clear" }
            }
        }

        /// Presses in the middle of a row, moves in steps, and releases.
        private func stroke(over body: String, across: Int, down: Int, in scene: PanelScene) async throws {
            let contents = try await scene.wait("'\(body)' is in sight") { row(body, in: $0) != nil }
            guard let row = row(body, in: contents), let window = contents.window(of: row) else { return }
            let origin = try await scene.origin(of: window)
            let start = (x: origin.x + row.left + row.width / 2, y: origin.y + row.top + row.height / 2)
            let steps = (1...8).flatMap { step in
                ["mousemove", "\(start.x + across * step / 8)", "\(start.y + down * step / 8)", "sleep", "0.01"]
            }
            let hands = ["mousemove", "\(start.x)", "\(start.y)", "sleep", "0.05", "mousedown", "1"] + steps
            try await RunningProcess.run(
                RepositoryPaths.tool("xdotool"), hands + ["mouseup", "1"], environment: scene.screen.environment
            ).succeeded()
        }
    }
}
