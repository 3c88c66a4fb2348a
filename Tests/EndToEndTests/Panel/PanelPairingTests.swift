// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelSettingsEndToEnd {
    /// Checks the size of the pairing form, and its texts about failures.
    struct PanelPairingTests {
        private static let code = Array(repeating: "WXM8", count: 9).joined(separator: "-")

        @Test(.tags(.slow)) func `the code's entry shows a whole code`() async throws {
            let scene = try await PanelScene()
            try await scene.openPairing()
            try await scene.press("Tab")
            try await scene.type(Self.code)
            try await scene.press("Home")
            let before = try await entry(in: scene)
            // The caret at the end would scroll to the end of a longer text.
            try await scene.press("End")
            let after = try await entry(in: scene)
            #expect(before.columns.upperBound > 250 && before.columns.upperBound < before.width - 2, "\(before)")
            // One of them may include the caret.
            #expect(abs(before.columns.upperBound - after.columns.upperBound) <= 3, "\(before), \(after)")
        }

        /// Returns the columns that the code covers, and the width of its entry.
        private func entry(in scene: PanelScene) async throws -> (columns: ClosedRange<Int>, width: Int) {
            let contents = try await scene.contents()
            let entry = try #require(contents.all("text box").last)
            var area = try #require(try await scene.area(of: entry, in: contents))
            // These lines have ink of every letter.
            (area.top, area.height) = (area.top + area.height / 2, 2)
            return (try #require(try await scene.picture().inkColumns(of: area)), area.width)
        }

        @Test(.tags(.slow)) func `a small screen has the whole form, and a long code scrolls`() async throws {
            let scene = try await PanelScene(size: .init(width: 360, height: 640))
            try await scene.openPairing()
            try await scene.press("Tab")
            try await scene.type(Self.code)
            let contents = try await scene.contents()
            let window = try #require(contents.first("dialog", "Pair With a Server"))
            #expect(window.width <= 360 && window.height <= 640)
            for entry in contents.inside(window).all("text box") {
                #expect(entry.left >= 0 && entry.right <= window.width, "\(contents.transcript)")
            }
        }

        @Test(.tags(.slow)) func `a wrong code is reported in words, and the details have the agent's text`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.openPairing()
            try await scene.type(scene.stack.server.url)
            try await scene.press("Tab")
            try await scene.type(Self.code)
            try await scene.press("Return")
            let sentence =
                "The code does not match this server. Check the code, or ask the administrator for a new one."
            let failed = try await scene.wait("it says what is wrong") { $0.texts.contains(sentence) }
            let entry = try #require(failed.all("text box").last)
            #expect(entry.isFocused && entry.description == sentence, "screen readers say it: \(entry)")
            let raw = "not trusted"
            #expect(!failed.texts.contains { $0.contains(raw) })
            try await scene.click("label", "Details")
            try await scene.wait("the agent's text is there") { contents in
                contents.texts.contains { $0.contains(raw) || $0.contains("signed by the CA") }
            }
        }

        @Test(.tags(.slow)) func `a server that needs a code says so`() async throws {
            let scene = try await PanelScene()
            try await scene.openPairing()
            try await scene.type(scene.stack.server.url)
            try await scene.press("Return")
            try await scene.wait("it says what is wrong") { contents in
                contents.texts.contains {
                    $0.hasPrefix("The identity of this server cannot be verified. Enter the code")
                }
            }
        }
    }
}
