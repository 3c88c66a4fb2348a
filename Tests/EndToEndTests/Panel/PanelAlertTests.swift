// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelAlertEndToEnd {
    /// Reads the alert on the screen as a screen reader does, and answers it with a pointer and keys.
    struct PanelAlertTests {
        private let lunch = #"{"aps":{"alert":{"title":"Lunch","body":"At noon."}},"mail":{"id":42}}"#

        @Test(.tags(.slow)) func `an alert has the app's name on top, Close left of View, and starts the panel`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.send(title: "Banner", body: "Not for the panel.")
            try await scene.user.waitForEntry("it came") { $0.body == "Not for the panel." }
            #expect(try await scene.panelProcess() == nil, "a banner needs no panel")
            // Without a notification server, the banner would wait for the panel, too.
            try await scene.user.posthorn("inbox", "clear", "--yes")
            try await scene.useAlerts()
            try await scene.send(lunch)

            let contents = try await scene.wait("the alert is there") { $0.first("button", "View") != nil }
            let window = try #require(contents.windows.first)
            #expect(contents.windows.count == 1)
            #expect(window.role == "alert dialog" && window.states.contains("modal"))
            #expect(window.name == PanelScene.appName && window.description == "Lunch\nAt noon.")
            let texts = contents.texts
            #expect(texts.count == 7 && texts[1].wholeMatch(of: /\d\d:\d\d/) != nil, "the time of arrival: \(texts)")
            #expect(
                texts.filter { $0 != texts[1] } == [
                    PanelScene.appName, "Lunch", "At noon.", "Close", "View", "Remind Me…",
                ])
            let (close, view) = try buttons(in: contents)
            #expect(close.right < view.left && close.top == view.top)
            for button in [close, view] { #expect(button.width >= 44 && button.height >= 44, "\(button)") }
            #expect(view.isFocused, "the harmless one has the focus")
            #expect(view.description.contains("Lunch"), "and says what it is about")
            try await isCentred(window, in: scene)
        }

        /// Returns the buttons of the only alert.
        private func buttons(in contents: ScreenContents) throws -> (close: ScreenElement, view: ScreenElement) {
            #expect(contents.answers.count == 2)
            return (
                try #require(contents.first("button", "Close")), try #require(contents.first("button", "View"))
            )
        }

        private func isCentred(_ window: ScreenElement, in scene: PanelScene) async throws {
            try await eventually("the alert is in the middle of the screen") {
                let frame = try await scene.frame(of: window)
                let size = scene.screen.size
                return abs(2 * frame.left + frame.width - size.width) <= 2
                    && abs(2 * frame.top + frame.height - size.height) <= 2
            }
        }

        @Test(.tags(.slow)) func `Tab moves between the buttons, and to a text only if it scrolls`() async throws {
            let scene = try await PanelScene(size: .init(width: 480, height: 320))
            try await scene.useAlerts()
            try await scene.send(lunch)
            try await scene.wait("View has the focus") { $0.first("button", "View")?.isFocused == true }
            try await scene.rest()
            for name in ["Remind Me…", "Close", "View"] {
                try await scene.press("Tab")
                try await scene.wait("\(name) has it") { $0.first("button", name)?.isFocused == true }
            }
            try await scene.answer("At noon.", becoming: "viewed") { try await scene.press("Return") }

            let long = (1...60).map { "Sentence \($0) of many." }.joined(separator: " ")
            try await scene.send(title: "Long", body: long)
            let before = try await scene.wait("the long alert is there") { $0.texts.contains(long) }
            let top = try #require(before.first("label", long)).top
            try await scene.rest()
            // The first stop is the button that puts the alert off.
            try await scene.press("Tab", "Tab")
            try await scene.press("Page_Down")
            try await scene.wait("its text moved up") { ($0.first("label", long)?.top ?? top) < top }
        }

        @Test(.tags(.slow)) func `View opens the app once, however often it is pressed`() async throws {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send(lunch)
            try await scene.waitFor("button", "View")
            try await eventually("the alert is answered") {
                try await scene.rest()
                if let place = try await place(of: "View", in: scene) {
                    try await scene.screen.xdotool(
                        "mousemove", "\(place.x)", "\(place.y)", "click", "--repeat", "3", "--delay", "20", "1"
                    ).succeeded()
                }
                return try await scene.user.inbox(limit: 1).first?.state == "viewed"
            }
            try await scene.waitUntilEmpty()
            // An app that the other presses had opened would have started before the app that the next View opens.
            try await scene.send(title: "Second", body: "Press Return.")
            try await scene.answer("Press Return.", becoming: "viewed") { try await scene.press("Return") }
            try await eventually("the app is opened for the second") { scene.opened.count >= 2 }
            #expect(scene.opened.count == 2)
            let opened = try JSONDecoder().decode(Opened.self, from: Data(scene.opened[0].utf8))
            #expect(opened.title == "Lunch" && opened.payload.mail.id == 42)
        }

        private struct Opened: Decodable {
            let title: String
            let payload: Payload

            struct Payload: Decodable {
                let mail: Mail
            }

            struct Mail: Decodable {
                let id: Int
            }
        }

        private func place(of button: String, in scene: PanelScene) async throws -> DesktopScreen.Place? {
            let contents = try await scene.contents()
            guard let element = contents.first("button", button), let window = contents.window(of: element) else {
                return nil
            }
            let origin = try await scene.origin(of: window)
            return .init(x: origin.x + element.left + element.width / 2, y: origin.y + element.top + element.height / 2)
        }

        @Test(.tags(.slow)) func `answer keys that come faster than every 600 ms answer no alert`() async throws {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            let keys = (0..<3000).map { ["Return", "space", "Escape"][$0 % 3] }
            let hands = try RunningProcess(
                RepositoryPaths.tool("xdotool"), ["key", "--delay", "100"] + keys,
                environment: scene.screen.environment)
            try await scene.send(title: "Early", body: "Not answered.")
            try await scene.wait("it is on the screen") { $0.texts.contains("Not answered.") }
            // Longer than the pause, so that it would have ended without the keys.
            try await scene.rest()
            #expect(try await scene.contents().texts.contains("Not answered."))
            #expect(try await scene.user.inbox().map(\.state) == ["shown"] && hands.exit == nil)
            try await hands.killNow()
            // The process may have ended in the middle of a key press.
            try await scene.screen.xdotool("keyup", "Return", "space", "Escape").succeeded()
            try await scene.answer("Not answered.", becoming: "viewed") { try await scene.press("Return") }
        }

        @Test(.tags(.slow)) func `continuous typing answers no alert, however long it lasts`() async throws {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            let hands = try RunningProcess(
                RepositoryPaths.tool("xdotool"),
                ["type", "--delay", "40", String(repeating: "ab c\n", count: 1000)],
                environment: scene.screen.environment)
            try await scene.send(["Typed over.", "Behind it."].map(PanelScene.alert))
            try await scene.wait("it is on the screen") { $0.texts.contains("Typed over.") }
            try await Task.sleep(for: .seconds(3))
            #expect(try await scene.contents().texts.contains("Typed over."))
            #expect(try await scene.user.inbox().map(\.state) == ["shown", "shown"])
            try await hands.killNow()
            // The typing may have ended in the middle of a key press.
            try await scene.screen.xdotool("keyup", "a", "b", "c", "space", "Return").succeeded()
            try await scene.answer("Typed over.", becoming: "viewed") { try await scene.press("Return") }
            try await scene.wait("the next one is there") { $0.texts.contains("Behind it.") }
        }

        @Test(.tags(.slow)) func `a sentence that is typed after a pause answers no alert`() async throws {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send(PanelScene.alert("Typed over."))
            try await scene.wait("it is on the screen") { $0.texts.contains("Typed over.") }
            try await scene.rest()
            try await scene.screen.xdotool("type", "--delay", "90", "I sent it\n").succeeded()
            // The agent knows any answer to the first alert before it shows the next one.
            try await scene.send(PanelScene.alert("Behind it."))
            try await scene.waitUntil("Behind it.", is: "shown")
            #expect(try await scene.user.inbox().map(\.state) == ["shown", "shown"])
            #expect(try await scene.contents().texts.contains("Typed over."))
            try await scene.answer("Typed over.", becoming: "viewed") { try await scene.press("Return") }
        }

        @Test(.tags(.slow)) func `a held key answers one alert, and so does a quick series of clicks`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send((1...6).map { PanelScene.alert("Number \($0).") })
            try await scene.wait("the first is on the screen") { $0.texts.contains("Number 1.") }
            try await scene.rest()
            try await scene.screen.xdotool("keydown", "Escape").succeeded()
            try await scene.wait("the second is on the screen") { $0.texts.contains("Number 2.") }
            try await Task.sleep(for: .seconds(3))
            #expect(try await scene.contents().texts.contains("Number 2."))
            try await scene.screen.xdotool("keyup", "Escape").succeeded()
            try await scene.answer("Number 2.", becoming: "closed") { try await scene.press("Escape") }

            try await scene.wait("the third is on the screen") { $0.texts.contains("Number 3.") }
            try await scene.rest()
            let view = try #require(try await place(of: "View", in: scene))
            try await scene.screen.xdotool(
                "mousemove", "\(view.x)", "\(view.y)", "click", "--repeat", "60", "--delay", "30", "1"
            ).succeeded()
            try await scene.waitUntil("Number 3.", is: "viewed")
            try await scene.wait("the fourth is on the screen") { $0.texts.contains("Number 4.") }
            #expect(try await scene.user.inbox().count { ["viewed", "closed"].contains($0.state) } == 3)
        }

        @Test(.tags(.slow)) func `Close is left of View in right-to-left languages, too`() async throws {
            let scene = try await PanelScene(language: "he")
            try await scene.useAlerts()
            try await scene.send(lunch)
            let (close, view) = try buttons(
                in: try await scene.wait("the alert is there") { $0.first("button", "View") != nil })
            #expect(close.right < view.left)
            try await scene.answer("At noon.", becoming: "closed") { try await scene.click("button", "Close") }
            try await scene.openPanel()
            let contents = try await scene.contents()
            let tabs = contents.all("tab")
            #expect(tabs.count == 3 && tabs[0].left > tabs[2].left, "the rest is mirrored: \(contents.transcript)")
        }

        @Test(.tags(.slow)) func `an alert is above the open panel, which is unchanged afterwards`() async throws {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send(#"{"aps":{"badge":1}}"#)
            try await scene.openPanel()
            try await scene.wait("something is listed") { !$0.all("list item").isEmpty }
            try await scene.press("ctrl+f")
            try await scene.type("Tickets")
            try await scene.wait("nothing is found") { $0.texts.contains("Nothing Found") }
            try await scene.send(lunch)
            try await scene.answer("At noon.", becoming: "closed") { try await scene.press("Escape") }
            let contents = try await scene.wait("the panel is there alone") { $0.windows.map(\.name) == ["Posthorn"] }
            #expect(contents.texts.contains("Nothing Found"), "what was typed still holds")
        }

        @Test(.tags(.slow)) func `an app's own actions are offered, and one accepts typed text`() async throws {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send(mail("Ready?"))
            let contents = try await scene.wait("the actions are there") { $0.first("button", "Reply") != nil }
            #expect(contents.answers.map(\.name) == ["Archive", "Reply", "Close"])
            #expect(contents.first("button", "Close")?.isFocused == true, "what an app does is not hit by mistake")
            try await write("Yes.", in: scene)
            try await scene.press("Return")
            try await scene.waitUntilEmpty()
            try await eventually("the app has it") { scene.opened.count == 1 }
            #expect(scene.opened[0].hasSuffix("} reply: Yes."), "\(scene.opened)")
        }

        private func mail(_ body: String) -> String {
            #"{"aps":{"alert":{"title":"Ben","body":"\#(body)"},"category":"MAIL"}}"#
        }

        /// Presses Reply and types the reply.
        private func write(_ reply: String, in scene: PanelScene) async throws {
            try await eventually("there is a line to type in") {
                try await scene.rest()
                try await scene.click("button", "Reply")
                return try await scene.contents().nodes.contains { $0.role == "text box" && $0.isFocused }
            }
            #expect(try await scene.contents().first("button", "Reply")?.isSensitive == false, "nothing is typed")
            // The window may have moved under the pointer, and a key pressed at that time may be lost.
            try await eventually("it is typed") {
                if try await scene.contents().first("button", "Reply")?.isSensitive == true { return true }
                try await scene.click("text box", "Reply")
                try await scene.press("ctrl+a")
                try await scene.type(reply)
                return false
            }
        }

        @Test(.tags(.slow)) func `a reply can be finished although a newer alert replaces its alert`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send(mail("Ready?"), collapseID: "ben")
            try await scene.waitFor("button", "Reply")
            try await write("Yes", in: scene)
            try await scene.send(mail("Hurry!"), collapseID: "ben")
            // The panel has asked for the newer alert by then.
            try await scene.waitUntil("Hurry!", is: "shown")
            try await scene.type(", soon.")
            #expect(try await scene.contents().texts.contains("Ready?"))
            try await scene.press("Return")
            try await scene.waitUntil("Ready?", is: "closed")
            try await eventually("the app has it") { scene.opened.count == 1 }
            #expect(scene.opened[0].hasSuffix("} reply: Yes, soon."), "\(scene.opened)")
            try await scene.answer("Hurry!", becoming: "closed") { try await scene.press("Escape") }
        }

        @Test(.tags(.slow), arguments: [(320, 480), (480, 320)])
        func `an alert fits a small screen, and one with too much text scrolls`(width: Int, height: Int) async throws {
            let scene = try await PanelScene(size: .init(width: width, height: height))
            try await scene.useAlerts()
            let body = "The backup of the office computers is complete. Nothing is left to do."
            try await scene.send(title: "Backup Complete", body: body)
            let contents = try await scene.wait("the alert is there") { $0.first("button", "View") != nil }
            #expect(contents.all("scroll bar").isEmpty, "nothing scrolls")
            try await fits(contents, in: scene)
            try await scene.answer(body, becoming: "viewed") { try await scene.press("Return") }

            let long = (1...60).map { "Sentence \($0) of many." }.joined(separator: " ")
            try await scene.send(title: "Long", body: long)
            let longer = try await scene.wait("the long alert is there") { $0.texts.contains("Long") }
            try await fits(longer, in: scene)
            try await scene.answer(long, becoming: "viewed") { try await scene.press("Return") }
        }

        private func fits(_ contents: ScreenContents, in scene: PanelScene) async throws {
            let window = try #require(contents.windows.first)
            let size = scene.screen.size
            try await eventually("the window is on the screen", evidence: { contents.transcript }) {
                let frame = try await scene.frame(of: window)
                return frame.left >= 0 && frame.top >= 0 && frame.left + frame.width <= size.width
                    && frame.top + frame.height <= size.height
            }
            let (close, view) = try buttons(in: contents)
            for button in [close, view] {
                #expect(button.bottom <= window.height && button.right <= window.width && button.height >= 44)
            }
        }
    }
}
