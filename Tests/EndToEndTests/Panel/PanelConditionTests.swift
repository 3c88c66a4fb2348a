// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelSettingsEndToEnd {
    /// Checks what the window keeps, where the focus is, and how the window tells that nothing can arrive.
    struct PanelConditionTests {
        @Test(.tags(.slow)) func `the window keeps its size, tab and filter`() async throws {
            let scene = try await PanelScene()
            try await scene.openPanel()
            try await scene.click("button", "Unread")
            try await scene.click("tab", "Apps")
            let window = try #require(try await scene.contents().windows.first)
            try await scene.screen.xdotool(
                "search", "--onlyvisible", "--name", "^Posthorn$", "windowsize", "\(window.width + 90)", "560"
            ).succeeded()
            let before = try await scene.wait("it has another size") {
                ($0.windows.first?.width ?? 0) > window.width + 50
            }
            try await scene.press("ctrl+w")
            try await scene.waitUntilEmpty()
            try await scene.openPanel()
            let after = try await scene.wait("the tab is as it was") { $0.first("tab", "Apps")?.isSelected == true }
            #expect(after.windows.first?.width == before.windows.first?.width)
            try await scene.press("ctrl+1")
            try await scene.wait("the filter is as it was") {
                $0.first("button", "Unread")?.states.contains("pressed") == true
            }
        }

        @Test(.tags(.slow)) func `the focus begins in the content, and follows the tab`() async throws {
            let scene = try await PanelScene()
            try await scene.send(PanelScene.alert("One."))
            try await scene.openPanel()
            try await scene.wait("the first notification has it") { $0.focused?.name.contains("One.") == true }
            try await scene.press("ctrl+3")
            try await scene.wait("a setting has it") { $0.focused?.role == "switch" }
            try await scene.press("ctrl+2")
            try await scene.wait("an app has it") { $0.focused?.name == PanelScene.appName }
            try await scene.press("ctrl+1")
            try await scene.wait("the notification has it again") { $0.focused?.name.contains("One.") == true }
        }

        @Test(.tags(.slow)) func `a switch that the arrow keys reach has its state, which Space changes`() async throws
        {
            let scene = try await PanelScene()
            try await scene.openPanel("--settings")
            try await scene.click("list item", PanelScene.appName)
            try await scene.moveFocus(to: "the sounds' row", by: "Down") { $0.first("switch", "Sounds") }
            let on = try #require(try await scene.contents().focused)
            #expect(on.name == "Sounds" && on.isOn)
            try await scene.press("space")
            try await scene.waitUntil("sound", has: "off")
            try await scene.wait("the focused row is off") { $0.focused?.name == "Sounds" && $0.focused?.isOn == false }
        }

        @Test(.tags(.slow)) func `a line above the list says that the server is gone, and what to do`() async throws {
            let scene = try await PanelScene()
            try await scene.openPanel()
            try await scene.stack.server.process.killNow()
            try await scene.click("the line") { $0.first("button") { $0.hasPrefix("Not connected since") } }
            let settings = try await scene.wait("the settings explain it") { contents in
                contents.texts.contains { $0.hasPrefix("The server cannot be reached. Retrying automatically.") }
            }
            #expect(!settings.texts.contains { $0.contains("connect to 127.0.0.1") }, "in our words alone")
            try await scene.click("list item", "Technical Details")
            try await scene.wait("the original text is there") { contents in
                contents.texts.contains { $0.contains("127.0.0.1") && $0.contains("onnect") }
            }
        }

        @Test(.tags(.slow)) func `a line above the list offers to pair a computer without a server`() async throws {
            let scene = try await PanelScene()
            try await scene.user.posthorn("agent", "unenrol")
            try await scene.openPanel()
            try await scene.click("button", "This computer is not paired with a server., Pair…")
            try await scene.waitFor("dialog", "Pair With a Server")
        }

        @Test(.tags(.slow)) func `a server with another identity is reported, and trusted again with a code`()
            async throws
        {
            let scene = try await PanelScene(size: .init(width: 400, height: 480))
            let server = scene.stack.server
            try await scene.user.agent.killNow()
            try await server.posthorn("authority", "rotate")
            try await server.posthorn("authority", "rotate", "--complete", "--yes", "--force")
            try await scene.user.startAgent()
            try await scene.openPanel()
            try await scene.click("button", "This is not the server that this computer was paired with.")
            try await scene.wait("the settings say what that can mean") { contents in
                contents.texts.contains { $0.contains("someone may be intercepting the connection") }
                    && contents.first("button", "Trust This Server…")?.isFocused == true
            }
            let shown = try await scene.contents()
            let button = try #require(shown.first("button", "Trust This Server…"))
            let tabs = try #require(shown.first("tab", "Settings"))
            #expect(button.top > 0 && button.bottom <= tabs.top, "it is on the screen: \(shown.transcript)")
            let list = try await server.posthorn("authority", "list", "--json").decoded(AuthorityFleet.Authorities.self)
            let code = try #require(list.authorities.first { $0.serving }?.code)
            try await scene.click("button", "Trust This Server…")
            let form = try await scene.wait("the form is there") { $0.first("dialog", "Trust This Server") != nil }
            #expect(form.texts.contains("Trust This Server"), "the title: \(form.texts)")
            #expect(form.texts.contains { $0.contains("“posthorn authority list”") }, "where the code is from")
            for (wrong, start) in [
                ("wrong", "The code is incomplete."), ("WXM8-WXM8-WXM8-WXM8-WXM8-WXM8", "This is not the code of"),
            ] {
                try await scene.type(wrong)
                try await scene.press("Return")
                let failed = try await scene.wait("it says what is wrong") { contents in
                    contents.texts.contains { $0.hasPrefix(start) }
                }
                let entry = try #require(failed.all("text box").last)
                #expect(entry.isFocused && entry.description.hasPrefix(start), "\(failed.transcript)")
            }
            // The refused code is selected, so that the next one replaces it.
            try await scene.type(code)
            try await scene.press("Return")
            try await scene.wait("it is connected again") { contents in
                contents.windows.count == 1 && contents.texts.contains { $0.hasPrefix("Connected since") }
            }
        }

        @Test(.tags(.slow)) func `a change that a full disk refuses is reported with its remedy`() async throws {
            let scene = try await PanelScene()
            let disk = try SmallDisk(byteCount: 4_000_000)
            try await scene.user.agent.killNow()
            let state = scene.user.files.path(of: "state")
            try FileManager.default.moveItem(atPath: state, toPath: disk.directory.path(of: "state"))
            try FileManager.default.createSymbolicLink(
                atPath: state, withDestinationPath: disk.directory.path(of: "state"))
            try await scene.user.startAgent()
            try await scene.user.waitUntilConnected()
            try await scene.openPanel("--settings")
            try await scene.click("list item", PanelScene.appName)
            try await scene.waitFor("switch", "Sounds")
            // The disk is full after this.
            _ = try await RunningProcess.run(
                RepositoryPaths.tool("dd"), ["if=/dev/zero", "bs=4k", "of=\(disk.directory.path(of: "filler"))"])
            try await scene.click("switch", "Sounds")
            try await scene.wait("it says what is wrong and what to do") { contents in
                contents.texts.contains("The change cannot be saved. Free some disk space, then try again.")
            }
            try await scene.wait("the switch is as it was") { $0.first("switch", "Sounds")?.isOn == true }
            #expect(!(try await scene.contents().texts.contains { $0.contains("database or disk is full") }))
        }

        @Test(.tags(.slow)) func `a wide window has the tabs in its header, and its content in the middle`()
            async throws
        {
            let scene = try await PanelScene(size: .init(width: 1920, height: 1080))
            try await scene.send(PanelScene.alert("One."))
            try await scene.openPanel()
            try await scene.screen.xdotool(
                "search", "--onlyvisible", "--name", "^Posthorn$", "windowmove", "0", "0", "windowsize", "1900", "1000"
            ).succeeded()
            let contents = try await scene.wait("the tabs are in the header") { contents in
                let tabs = contents.all("tab")
                return tabs.count == 3 && tabs.allSatisfy { $0.bottom < 70 } && contents.windows[0].width > 1800
            }
            let window = contents.windows[0]
            let search = try #require(contents.nodes.first { $0.name == "Search" })
            let row = try #require(contents.all("list item").first)
            for element in [search, row] { #expect(element.width <= 700, "\(element.role) \(element.width)") }
            #expect(abs(row.left + row.width / 2 - window.width / 2) < 20, "in the middle")
            try await scene.press("ctrl+2")
            let icon = try await scene.waitFor("button", PanelScene.appName)
            #expect(icon.left > 500 && icon.width < 200)
            try await scene.press("ctrl+3")
            let toggle = try await scene.waitFor("switch", "Silence Sounds")
            #expect(toggle.width <= 700)
            #expect(try await scene.contents().all("tab").count == 3)
        }

        @Test(.tags(.slow)) func `the menu shows the program's version and the keyboard shortcuts`() async throws {
            let scene = try await PanelScene()
            try await scene.openPanel()
            try await scene.click("button", "Menu")
            try await scene.moveFocus(to: "the item", by: "Down") { $0.first("menu item", "About Posthorn") }
            try await scene.press("Return")
            try await scene.wait("the version is there") { $0.windows.count == 2 && $0.texts.contains("Posthorn") }
            try await scene.press("Escape")
            try await scene.wait("it is closed") { $0.windows.count == 1 }
            try await scene.press("F1")
            try await scene.wait("the shortcuts are there") { contents in
                contents.windows.count == 2 && contents.texts.contains("Show notifications")
            }
        }
    }
}
