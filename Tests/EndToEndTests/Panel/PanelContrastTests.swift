// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelLookEndToEnd {
    /// Measures the contrast of texts in pictures of the screen, as WCAG 2.1 defines it.
    ///
    /// Text is of twice the usual size, so that its strokes are wide enough to have the text's color.
    struct PanelContrastTests {
        /// The minimum contrast of text, and of icons.
        private static let (ofText, ofIcons) = (4.5, 3.0)

        private func scene(isDark: Bool) async throws -> PanelScene {
            let scene = try await PanelScene(size: .init(width: 1000, height: 1500), isDark: isDark)
            try await scene.doubleText()
            return scene
        }

        @Test(.tags(.slow), arguments: [false, true])
        func `every text of the panel has a contrast of 4.5 to 1 at least`(isDark: Bool) async throws {
            let scene = try await scene(isDark: isDark)
            try await scene.stack.server.posthorn(
                "policy", "set", "--topic", PanelScene.app, "sound", "off", "--lock")
            try await scene.useAlerts()
            try await scene.send((1...3).map { conversation("Number \($0).") })
            for number in 1...3 {
                try await scene.wait("alert \(number) is ready") { contents in
                    contents.texts.contains("\(number) of 3")
                        && contents.windows.first?.states.contains("busy") == false
                }
                try await check("alert \(number)", in: scene)
                try await scene.press("Escape")
            }
            try await scene.waitUntilEmpty()
            try await scene.openPanel()
            try await scene.wait("the list is there") { $0.all("list item").count == 4 }
            try await check("the list", in: scene)
            try await scene.click("button", "Details")
            try await scene.wait("details are there") { $0.first("list item", "Notification Settings") != nil }
            try await check("details", in: scene)
            try await scene.press("alt+2")
            try await scene.wait("the apps are there") { $0.first("tab", "Apps")?.isSelected == true }
            try await check("the apps", in: scene)
            try await scene.press("alt+3")
            try await scene.waitFor("button", "Leave This Server")
            try await check("the settings", in: scene)
            try await scene.click("list item", PanelScene.appName)
            try await scene.wait("the switch is locked") { $0.texts.contains("Set by your administrator") }
            try await check("the app's settings", in: scene)
        }

        /// Returns the payload of an alert of a conversation, so that one alert says how many wait.
        private func conversation(_ body: String) -> String {
            #"{"aps":{"alert":{"title":"Ben","body":"\#(body)"},"badge":7,"thread-id":"ben"}}"#
        }

        @Test(.tags(.slow), arguments: [false, true])
        func `every text of the pairing form has a contrast of 4.5 to 1 at least`(isDark: Bool) async throws {
            let scene = try await scene(isDark: isDark)
            try await scene.openPairing()
            try await scene.type("https://127.0.0.1:1")
            try await scene.wait("it can be saved") { $0.first("button", "Pair")?.isSensitive == true }
            let contents = try await check("the form", in: scene)
            let entry = try #require(contents.all("text box").last, "the code's entry shows its placeholder")
            let area = try #require(try await scene.area(of: entry, in: contents))
            let ink = try #require(try await scene.picture().ink(of: area.inset(by: 6)))
            #expect(ink.contrast >= Self.ofText, "the placeholder: \(ink.contrast)")
            try await scene.press("Return")
            try await scene.wait("there is an error") { $0.texts.contains("Details") }
            try await check("the error", in: scene)
        }

        @Test(.tags(.slow), arguments: [false, true])
        func `a badge has digits with a contrast of 4.5 to 1 on red`(isDark: Bool) async throws {
            let scene = try await scene(isDark: isDark)
            try await scene.send(#"{"aps":{"alert":"Seven.","badge":7}}"#)
            // A visit of the list would remove its badge.
            try await scene.openPanel("--settings")
            try await scene.press("alt+2")
            let contents = try await scene.wait("both badges are there") { contents in
                contents.first("label", "7") != nil && contents.first("label", "1") != nil
            }
            let picture = try await scene.steadyPicture()
            for digits in ["7", "1"] {
                let label = try #require(contents.first("label", digits))
                var area = try #require(try await scene.area(of: label, in: contents))
                // The corners of its frame are outside of the round badge.
                (area.top, area.height) = (area.top + 5, area.height - 10)
                let ink = try #require(picture.ink(of: area))
                #expect(ink.contrast >= Self.ofText, "\(digits): \(ink)")
                let (back, text) = (ink.background, ink.text)
                #expect(back.red > 150 && back.green < 60 && back.blue < 60, "red: \(back)")
                #expect(min(text.red, text.green, text.blue) > 240, "white: \(text)")
            }
        }

        /// Checks every text and icon button that is completely in sight.
        @discardableResult
        private func check(_ what: String, in scene: PanelScene) async throws -> ScreenContents {
            let picture = try await scene.steadyPicture()
            let contents = try await scene.contents()
            let window = try #require(contents.windows.last)
            let origin = try await scene.origin(of: window)
            let shown = contents.inside(window)
            let bottom = shown.all("tab").map(\.top).min() ?? window.height
            // Input that is not possible is exempt (WCAG 2.1, criterion 1.4.3).
            let exempt = shown.all("button").filter { !$0.isSensitive }
            var count = 0
            for element in shown.nodes where ["label", "button"].contains(element.role) {
                let isTab = shown.all("tab").contains { $0.contains(element) }
                guard isTab || element.bottom <= bottom, element.top >= 0, element.width > 0, element.height > 0,
                    !exempt.contains(where: { $0.contains(element) })
                else { continue }
                let isIcon = element.role == "button" && shown.inside(element).all("label").isEmpty
                guard isIcon || element.role == "label", !element.name.isEmpty else { continue }
                guard let ink = picture.ink(of: .init(element, windowAt: origin)) else { continue }
                let least = isIcon ? Self.ofIcons : Self.ofText
                #expect(ink.contrast >= least, "\(what): '\(element.name)' has \(ink.contrast): \(ink)")
                count += 1
            }
            #expect(count > 3, "\(contents.transcript)")
            return contents
        }
    }
}

extension ScreenElement {
    /// Returns whether another element of the same window is inside this one.
    fileprivate func contains(_ other: ScreenElement) -> Bool {
        other.left >= left && other.right <= right && other.top >= top && other.bottom <= bottom
    }
}
