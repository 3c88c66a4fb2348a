// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelListEndToEnd {
    /// Checks how notifications are read in the list: what counts as seen, whole texts, reasons and offers.
    struct PanelReadingTests {
        private func row(of body: String, in contents: ScreenContents) -> ScreenElement? {
            contents.first("list item") { $0.contains(body) }
        }

        @Test(.tags(.slow)) func `only notifications that were on the screen become read`() async throws {
            let scene = try await PanelScene()
            try await scene.send((1...32).map { PanelScene.alert("Number \($0).") }, concurrency: 8)
            try await eventually("all came") { try await scene.user.inbox().count == 32 }
            try await scene.openPanel()
            let contents = try await scene.wait("they are listed") { row(of: "Number", in: $0) != nil }
            let bottom = try #require(contents.all("tab").first).top
            try await eventually("those on the screen are read") {
                try await scene.press("ctrl+1")
                try await Task.sleep(for: .milliseconds(700))
                try await scene.press("ctrl+2")
                return try await scene.user.inbox().contains(where: \.read)
            }
            let read = try await scene.user.inbox().filter(\.read)
            let height = try #require(row(of: "Number", in: contents)?.height)
            #expect((3...bottom / height).contains(read.count), "\(read.count) of 32, in a list of \(bottom) pixels")
            // The list begins with the newest notification.
            let order = try await scene.user.inbox().sorted { $0.entry > $1.entry }
            #expect(order.prefix(read.count).map(\.entry) == read.map(\.entry).sorted(by: >), "the newest")
        }

        @Test(.tags(.slow)) func `a list in an inactive window marks nothing as read`() async throws {
            let scene = try await PanelScene()
            try await scene.openPanel()
            try await scene.wait("it is empty") { $0.texts.contains("No Notifications") }
            let other = try RunningProcess(
                RepositoryPaths.tool("xmessage"), ["Another window"], environment: scene.screen.environment)
            try await scene.wait("the panel is inactive") { !($0.windows.first?.states.contains("active") ?? true) }
            try await scene.send(PanelScene.alert("Unseen."))
            try await scene.wait("it is listed") { row(of: "Unseen.", in: $0) != nil }
            try await Task.sleep(for: .milliseconds(700))
            other.send(SIGTERM)
            try await scene.wait("the panel is active") { $0.windows.first?.states.contains("active") ?? false }
            #expect(try await scene.user.inbox().first?.read == false)
        }

        @Test(.tags(.slow)) func `a notification that was not shown keeps its text, and names the reason`() async throws
        {
            let scene = try await PanelScene()
            try await scene.user.posthorn("settings", "set", "do-not-disturb", "on")
            try await scene.send(title: "Anna", body: "The train is late.")
            try await scene.waitUntil("The train is late.", is: "suppressed")
            try await scene.openPanel()
            let contents = try await scene.wait("it is listed") { $0.texts.contains("The train is late.") }
            #expect(contents.texts.contains("Anna"))
            let name = try #require(row(of: "The train is late.", in: contents)).name
            #expect(name.contains("Not shown: Do Not Disturb was on."), "\(name)")
            try await scene.click("button", "Show All Text")
            try await scene.wait("the reason is below the text") {
                $0.texts.contains("Not shown: Do Not Disturb was on.")
            }
        }

        @Test(.tags(.slow)) func `the parts of a notification that were left out are named with their reasons`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.send(
                #"{"aps":{"alert":"A photo"},"url":"http://a.example","attachment-url":"https://a.example/1.png"}"#)
            try await scene.openPanel()
            try await scene.wait("it is listed") { row(of: "A photo", in: $0) != nil }
            let picture = "The picture was not loaded because the app does not allow pictures from this server."
            let text = "The link was left out because its address is not allowed.\n\(picture)"
            try await scene.click("button", "Show All Text")
            let expanded = try await scene.wait("the reasons are below the text") { $0.texts.contains(text) }
            let place = try #require(row(of: "A photo", in: expanded))
            let first = try #require(expanded.inside(place).first("label", "A photo"))
            #expect(first.top - place.top >= 10, "the text keeps its distance from the edge")
            try await scene.click("button", "Details")
            try await scene.wait("they are among the details") {
                $0.first("list item", "Left Out, \(text)") != nil
            }
            try await scene.click("list item", "Technical Details")
            try await scene.wait("the agent's own text is there for the link alone") {
                $0.texts.contains("url: its scheme is never opened; use https")
            }
        }

        @Test(.tags(.slow)) func `the first time-sensitive alert that was held back offers to allow them`() async throws
        {
            let scene = try await PanelScene()
            try await scene.user.posthorn("settings", "set", "do-not-disturb", "on")
            for body in ["First.", "Second."] {
                try await scene.send(
                    #"{"aps":{"alert":{"title":"Alert","body":"\#(body)"},"interruption-level":"time-sensitive"}}"#)
                try await scene.waitUntil(body, is: "suppressed")
            }
            try await scene.openPanel()
            let offer = "Allow Time-Sensitive Notifications"
            let contents = try await scene.wait("it is offered") { $0.first("button", offer) != nil }
            #expect(contents.all("button").filter { $0.name == offer }.count == 1, "by the first alone")
            try await scene.click("button", offer)
            try await scene.waitUntil("time-sensitive", has: "on")
            try await scene.wait("it is offered no more") { $0.first("button", offer) == nil }
        }

        @Test(.tags(.slow)) func `rows expand to the whole text, and sections collapse, also after a restart`()
            async throws
        {
            let scene = try await PanelScene()
            let text =
                "The first line.\\nThe second line.\\n" + String(repeating: "More words. ", count: 40) + "The end."
            try await scene.send(title: "Long", body: text)
            try await scene.openPanel()
            try await scene.wait("the list has the focus") { row(of: "Long", in: $0)?.isFocused == true }
            let shown = try await scene.contents()
            let before = try #require(row(of: "Long", in: shown))
            #expect(!before.states.contains("expanded"))
            try await scene.press("plus")
            let after = try await scene.wait("the row is expanded") {
                row(of: "Long", in: $0)?.states.contains("expanded") == true
            }
            let high = try #require(row(of: "Long", in: after))
            #expect(high.height > 2 * before.height)
            #expect(after.texts.contains { $0.contains("\n") && $0.hasSuffix("The end.") })
            try await scene.press("minus")
            try await scene.wait("the row is low") { row(of: "Long", in: $0)?.height == before.height }

            try await scene.click("the section") { $0.first("list item") { $0.hasPrefix(PanelScene.appName) } }
            try await scene.wait("the section is collapsed") { contents in
                row(of: "Long", in: contents) == nil && contents.all("list item").count == 1
            }
            try await scene.press("ctrl+w")
            try await scene.waitUntilEmpty()
            try await scene.openPanel()
            try await scene.wait("it is still collapsed") { $0.all("list item").count == 1 }
            try await scene.type("long")
            try await scene.wait("a search finds it") { row(of: "Long", in: $0) != nil }
        }

        @Test(.tags(.slow)) func `a cleared notification returns with Undo, and is removed without it`() async throws {
            let scene = try await PanelScene()
            try await scene.send(["One.", "Two."].map(PanelScene.alert))
            try await scene.openPanel()
            try await scene.wait("the list has the focus") { row(of: "Two.", in: $0)?.isFocused == true }
            try await scene.press("Delete")
            try await scene.wait("it is gone") { row(of: "Two.", in: $0) == nil }
            #expect(try await scene.user.inbox().count == 2, "it is kept while it can return")
            try await scene.click("Undo") { $0.first("button") { $0.hasPrefix("Undo") } }
            try await scene.wait("it is back") { row(of: "Two.", in: $0) != nil }
            try await scene.click("the first") { row(of: "One.", in: $0) }
            try await scene.moveFocus(to: "the list", by: "Tab") { row(of: "One.", in: $0) }
            try await scene.press("Delete")
            try await scene.wait("it is gone") { row(of: "One.", in: $0) == nil }
            try await scene.press("ctrl+w")
            try await eventually("it is removed") { try await scene.user.inbox().map(\.body) == ["Two."] }
        }
    }
}
