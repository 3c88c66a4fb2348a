// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelLookEndToEnd {
    /// Checks that with larger text and longer words nothing is wider than the window, and all controls are visible.
    struct PanelTextSizeTests {
        /// Sends an alert, checks that all of it is visible, and closes it.
        private func showAlert(in scene: PanelScene, buttons names: [String]) async throws {
            try await scene.useAlerts()
            try await scene.send(PanelScene.alert("One."))
            try await scene.wait("the alert fits, with its buttons") { contents in
                guard let window = contents.windows.first else { return false }
                let buttons = contents.all("button").prefix(names.count)
                return buttons.map(\.name) == names && contents.fits(scene.screen.size)
                    && buttons.allSatisfy { $0.bottom <= window.height }
            }
            try await scene.answer("One.", becoming: "closed") { try await scene.press("Escape") }
        }

        @Test(.tags(.slow)) func `text of twice the size fits a screen of width 360`() async throws {
            let scene = try await PanelScene(size: .init(width: 360, height: 640))
            try await scene.doubleText()
            try await showAlert(in: scene, buttons: ["Close", "View"])
            try await scene.openPanel()
            let list = try await scene.wait("the list fits") { contents in
                contents.all("list item").count == 2 && contents.fits(scene.screen.size)
            }
            let headline = try #require(list.first("label", "Alert"))
            let body = try #require(list.first("label", "One."))
            #expect(headline.height > 30, "the text is larger: \(headline)")
            #expect(headline.bottom <= body.top, "and nothing overlaps")
            let filters = ["All", "Unread", "Not Shown"].compactMap { list.first("button", $0) }
            #expect(filters.count == 3)
            for (left, right) in zip(filters, filters.dropFirst()) { #expect(left.right <= right.left) }
            let name = try #require(list.first("label", PanelScene.appName))
            let clear = try #require(list.first("button", "Clear all notifications of \(PanelScene.appName)"))
            #expect(
                name.width > 150 && clear.top >= name.bottom, "the name has the width for itself: \(name), \(clear)")
            try await scene.press("alt+3")
            try await scene.click("list item", PanelScene.appName)
            try await scene.wait("the app's page fits") {
                $0.first("switch", "Badges") != nil && $0.fits(scene.screen.size)
            }
        }

        @Test(.tags(.slow)) func `the pairing form with text of twice the size has whole button labels`() async throws {
            let scene = try await PanelScene(size: .init(width: 360, height: 640))
            try await scene.doubleText()
            try await scene.openPairing()
            let contents = try await scene.wait("the form is there") { $0.first("button", "Pair") != nil }
            let buttons = try ["Cancel", "Pair"].map { try #require(contents.first("label", $0)) }
            #expect(buttons[0].width > buttons[1].width * 5 / 4, "Cancel is longer than Save: \(buttons)")
        }

        @Test(
            .tags(.slow),
            arguments: [
                (
                    PanelScene.longerLanguage, ["Cloosee", "Viieew"], ["Nootiifiicaatiioons", "AApps", "Seettiings"],
                    ["Baadgees", "Tuurn OOff AAll", "Caanceel"]
                ),
                (
                    "de", ["Schließen", "Ansehen"], ["Benachrichtigungen", "Apps", "Einstellungen"],
                    ["Zähler", "Alles ausschalten", "Abbrechen"]
                ),
            ])
        func `longer translations fit a screen of width 360`(
            language: String, buttons: [String], tabs: [String], settings: [String]
        ) async throws {
            let scene = try await PanelScene(size: .init(width: 360, height: 640), language: language)
            try await showAlert(in: scene, buttons: buttons)
            try await scene.openPanel()
            for (tab, title) in tabs.enumerated() {
                try await scene.press("alt+\(tab + 1)")
                try await scene.wait("\(title) fits") { contents in
                    contents.all("tab").count == 3 && contents.all("tab")[tab].isSelected
                        && contents.all("tab")[tab].name == title && contents.fits(scene.screen.size)
                }
            }
            try await scene.click("list item", PanelScene.appName)
            try await scene.wait("the app's page fits") {
                $0.first("switch", settings[0]) != nil && $0.fits(scene.screen.size)
            }
            try await scene.click("button", settings[1])
            try await scene.wait("the sheet fits") { contents in
                contents.all("button").last?.name == settings[2] && contents.fits(scene.screen.size)
            }
        }
    }
}
