// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelLookEndToEnd {
    /// Checks that texts of apps and senders without a line-break opportunity make no window wider.
    struct PanelWidthTests {
        private static let family = Array(repeating: "👩", count: 200).joined(separator: "\u{200D}")
        private static let tower = "Z" + String(repeating: "\u{336}\u{310}", count: 250)
        private static let wide = String(repeating: "W", count: 243)

        /// Starts a scene with an app whose own texts have no line-break opportunity either.
        private func scene() async throws -> PanelScene {
            let event = Array(repeating: "👩", count: 36).joined(separator: "\u{200D}")
            return try await PanelScene { user in
                try user.files.write(
                    """
                    {
                        "event_types": [{"id": "MAIL", "name": "\(event)"}],
                        "categories": [{"id": "MAIL", "actions": [
                            {"id": "wide", "title": "\(Self.wide)"}, {"id": "none", "title": "\\u200b"},
                            {"id": "reply", "title": "\(event)", "text": true}
                        ]}]
                    }
                    """, to: "data/posthorn/apps/\(PanelScene.app).json", permissions: 0o644)
            }
        }

        @Test(.tags(.slow)) func `no text makes an alert wider or higher, and its buttons are visible`() async throws {
            let scene = try await scene()
            try await scene.useAlerts()
            try await scene.send(title: "Usual", body: "Usual.")
            let usual = try #require(try await shown(1, in: scene).windows.first)
            try await scene.answer("Usual.", becoming: "closed") { try await scene.press("Escape") }

            let texts = [(Self.family, Self.tower), (Self.tower, "Below.\\n\(Self.family)")]
            for (title, body) in texts {
                try await scene.send(title: title, body: body)
                let contents = try await shown(1, in: scene)
                try fits(contents, usual)
                #expect(contents.windows[0].height < 400, "\(contents.transcript)")
                try await close(in: scene)
            }
            try await scene.send(
                #"{"aps":{"alert":{"title":"\#(Self.family)","body":"Three."},"category":"MAIL"}}"#)
            let contents = try await shown(2, in: scene)
            #expect(contents.all("button")[0].name == Self.wide.prefix(39) + "…")
            try fits(contents, usual)
        }

        /// Waits for an alert with this number of buttons besides Close.
        private func shown(_ count: Int, in scene: PanelScene) async throws -> ScreenContents {
            try await scene.wait("an alert is there") { contents in
                contents.first("button", "Close") != nil && contents.answers.count == count + 1
            }
        }

        private func fits(_ contents: ScreenContents, _ usual: ScreenElement) throws {
            let window = try #require(contents.windows.first)
            #expect(window.width == usual.width, "\(contents.transcript)")
            for button in contents.all("button") {
                #expect(button.left >= 0 && button.right <= window.width && button.bottom <= window.height)
                #expect(button.width >= 44 && button.height >= 44, "\(contents.transcript)")
            }
        }

        private func close(in scene: PanelScene) async throws {
            try await eventually("the alert is gone") {
                try await scene.rest()
                try await scene.press("Escape")
                return try await scene.contents().nodes.isEmpty
            }
        }

        @Test(.tags(.slow)) func `no text makes the panel wider, in the list, in details, or in the settings`()
            async throws
        {
            let scene = try await scene()
            try await scene.openPanel()
            let usual = try #require(try await scene.contents().windows.first)
            let alert = #"{"title":"\#(Self.family)","body":"\#(Self.tower)\n\#(Self.family)"}"#
            try await scene.send(#"{"aps":{"alert":\#(alert),"badge":4294967295}}"#)
            try await inside(usual, in: scene, "it is listed") { $0.all("list item").count == 2 }
            try await scene.click("button", "Details")
            try await inside(usual, in: scene, "details are there") { $0.first("button", "View") != nil }
            try await scene.click("list item", "Notification Settings")
            try await inside(usual, in: scene, "the app's page is there") { $0.first("switch", "Badges") != nil }
            try await scene.click("the kind of event") { contents in
                contents.all("list item").first { $0.name.unicodeScalars.first == "👩" }
            }
            try await inside(usual, in: scene, "its page is there") { contents in
                contents.first("switch", "Badges") != nil && contents.first("switch", "Time-Sensitive") == nil
            }
            try await scene.click("tab", "Apps")
            let name = "\(PanelScene.appName), 4294967295 new items"
            let contents = try await scene.wait("the number is there") { $0.first("button", name) != nil }
            let tile = try #require(contents.first("button", name))
            let badge = try #require(contents.inside(tile).first("label", "4294967295"))
            #expect(badge.left >= tile.left && badge.right <= tile.right, "\(contents.transcript)")
        }

        @Test(.tags(.slow)) func `an app's name widens neither its page nor the question about its removal`()
            async throws
        {
            let scene = try await PanelScene()
            let name = Array(repeating: "👩", count: 36).joined(separator: "\u{200D}")
            _ = try await scene.user.register(PanelScene.app, name: name)
            try await scene.openPanel()
            let usual = try #require(try await scene.contents().windows.first)
            try await scene.click("tab", "Settings")
            try await scene.click("the app") { contents in
                contents.all("list item").first { $0.name.unicodeScalars.first == "👩" }
            }
            try await inside(usual, in: scene, "the app's page is there") { $0.first("switch", "Badges") != nil }
            try await scene.click("button", "Remove App")
            try await inside(usual, in: scene, "it is asked") { $0.first("button", "Cancel") != nil }
        }

        /// Waits until the window contains every button of the expected page, and checks that it has its usual width.
        private func inside(
            _ usual: ScreenElement, in scene: PanelScene, _ what: String, _ condition: (ScreenContents) -> Bool
        ) async throws {
            // Pages slide in from the side.
            let contents = try await scene.wait("\(what), inside the window") { contents in
                let pressed = contents.nodes.filter { ["button", "switch", "list item", "tab"].contains($0.role) }
                return condition(contents) && pressed.allSatisfy { $0.left >= 0 && $0.right <= usual.width }
            }
            #expect(contents.windows.first?.width == usual.width, "\(contents.transcript)")
        }
    }
}
