// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelSettingsEndToEnd {
    /// Checks that settings in the panel apply immediately and are saved.
    struct PanelSettingsTests {
        @Test(.tags(.slow)) func `three clicks turn the sound of one app off, and kill -9 does not turn it on`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.openPanel()
            // The three clicks are counted from the newly opened panel.
            try await scene.click("tab", "Settings")
            try await scene.click("list item", PanelScene.appName)
            try await scene.click("switch", "Sounds")

            try await scene.waitUntil("sound", has: "off")
            try await scene.user.agent.killNow()
            try await scene.user.startAgent()
            #expect(try await scene.setting("sound") == "off")
            let contents = try await scene.wait("the sound's own row is gone") { $0.first("list item", "Sound") == nil }
            #expect(try #require(contents.first("switch", "Sounds")).isOn == false)

            try await scene.user.posthorn("settings", "set", PanelScene.app, "sound", "on")
            try await scene.wait("what is set elsewhere shows") {
                $0.first("switch", "Sounds")?.isOn == true && $0.first("list item", "Sound")?.description == "As Sent"
            }
            try await scene.click("button", "Settings")
            try await scene.wait("the list says what is on") { $0.texts.contains("Badges, Sounds, Banners") }
        }

        @Test(.tags(.slow)) func `alert style, event types and the master switch are set in lists`() async throws {
            let scene = try await PanelScene()
            try await scene.openPanel("--settings")
            try await scene.click("list item", PanelScene.appName)
            try await scene.click("list item", "Alert Style")
            try await scene.click("list item", "Alerts")
            try await scene.waitUntil("alert", has: "alert")
            try await scene.press("Escape")
            let page = try await scene.wait("the row has it") {
                $0.first("list item", "Alert Style")?.description == "Alerts"
            }
            #expect(page.first("switch", "Pictures") == nil, "this app has no pictures")

            try await scene.click("list item", "New mail")
            try await scene.click("switch", "Sounds")
            try await scene.waitUntil("sound", event: "MAIL", has: "off")
            #expect(try await scene.setting("sound") == "on")
            try await scene.press("alt+Left")
            try await scene.wait("the row has it") {
                $0.first("list item", "New mail")?.description == "Badges, Alerts"
            }

            try await scene.press("alt+Left")
            try await scene.click("switch", "Notifications")
            try await scene.waitUntil("master", of: nil, has: "off")
            let contents = try await scene.wait("the apps cannot be chosen") {
                $0.first("list item", PanelScene.appName)?.isSensitive == false
            }
            #expect(contents.texts.contains("Badges, Sounds, Alerts"), "and still say what was chosen")
        }

        @Test(.tags(.slow)) func `alerts that are switched off and on again keep their style`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.openPanel("--settings")
            try await scene.click("list item", PanelScene.appName)
            try await scene.click("switch", "Alerts")
            try await scene.waitUntil("alert", has: "none")
            try await scene.click("switch", "Alerts")
            try await scene.waitUntil("alert", has: "alert")
            try await scene.wait("the row has it") { $0.first("list item", "Alert Style")?.description == "Alerts" }

            try await scene.click("button", "Turn Off All")
            try await scene.click("button", "Turn Off All for \(PanelScene.appName)")
            try await scene.waitUntil("alert", has: "none")
            try await scene.wait("the sheet is gone") { $0.first("button", "Cancel") == nil }
            try await scene.click("switch", "Alerts")
            try await scene.waitUntil("alert", has: "alert")
        }

        @Test(.tags(.slow)) func `pictures can be switched off for an app that can have them`()
            async throws
        {
            let scene = try await PanelScene { user in
                try user.files.write(
                    #"{"picture_hosts":["images.example.org"]}"#, to: "data/posthorn/apps/\(PanelScene.app).json",
                    permissions: 0o644)
            }
            try await scene.openPanel("--settings")
            try await scene.click("list item", PanelScene.appName)
            try await scene.click("switch", "Pictures")
            try await scene.waitUntil("pictures", has: "off")
            try await scene.wait("a sentence explains it") {
                $0.texts.contains("The server of a picture learns the address of this computer.")
            }
        }

        @Test(.tags(.slow)) func `do-not-disturb can be switched on, and given an end and a schedule`() async throws {
            let scene = try await PanelScene()
            try await scene.openPanel("--settings")
            try await scene.click("list item", "Do Not Disturb")
            try await scene.click("switch", "Do Not Disturb")
            try await scene.waitUntil("do-not-disturb", of: nil, has: "on")
            try await scene.click("list item", "Ends")
            try await scene.click("list item", "In One Hour")
            try await eventually("it has an end") {
                let value = try await scene.setting("do-not-disturb", of: nil)
                return value != "on" && value != "off"
            }
            try await scene.wait("a row names it, and has the one checkmark") { contents in
                let chosen = contents.all("list item").filter(\.isSelected).map(\.name)
                return chosen.count == 1 && chosen[0].hasPrefix("At ")
            }
            try await scene.click("list item", "When Turned Off")
            try await scene.waitUntil("do-not-disturb", of: nil, has: "on")
            try await scene.wait("that row is gone") { contents in
                contents.all("list item").filter(\.isSelected).map(\.name) == ["When Turned Off"]
                    && contents.all("list item").count == 4
            }
            try await scene.press("Escape")
            try await scene.click("list item", "Add Times")
            let times = try await scene.wait("the times are there") { $0.first("spin button", "From, hour") != nil }
            let hour = try #require(times.first("spin button", "From, hour"))
            #expect(hour.width >= 44 && hour.height >= 2 * 44, "a button above the number and one below")
            #expect(times.texts.contains("The times end on the next day."), "no error before the first click")
            try await scene.press("Escape")
            try await scene.click("list item", "Add Times")
            try await scene.click("button", "Sunday")
            #expect(try await scene.setting("schedule", of: nil) == "none", "nothing is saved before it is added")
            try await scene.click("button", "Add")
            try await scene.waitUntil("schedule", of: nil, has: "mon tue wed thu fri sat 22:00-07:00")
            try await scene.click("the times") { $0.first("list item") { $0.hasPrefix("Mon, Tue") } }
            try await scene.click("button", "Sunday")
            try await scene.waitUntil("schedule", of: nil, has: "22:00-07:00")
            try await scene.click("button", "Remove Times")
            try await scene.waitUntil("schedule", of: nil, has: "none")
        }

        @Test(.tags(.slow)) func `a sound is selected by its checkmark and played`() async throws {
            let sound = try await DesktopSound()
            let scene = try await PanelScene(sound: sound) { user in
                let folder = try user.files.makeDirectory("data/sounds")
                try FileManager.default.createSymbolicLink(
                    atPath: "\(folder)/posthorn",
                    withDestinationPath: "\(RepositoryPaths.root)/deploy/sounds/posthorn")
            }
            try await scene.openPanel("--settings")
            try await scene.click("list item", PanelScene.appName)
            try await scene.click("list item", "Sound")
            let contents = try await scene.wait("the sounds are listed") { $0.all("list item").count > 3 }
            let names = contents.all("list item").map(\.name)
            #expect(names.prefix(2) == ["No Sound", "As Sent"])
            #expect(contents.all("list item").filter(\.isSelected).map(\.name) == ["As Sent"])
            try await scene.click("list item", names[2])
            let value = names[2].lowercased().replacingOccurrences(of: " ", with: "-")
            try await scene.waitUntil("sound-name", has: value)
            try await eventually("it is heard", evidence: { sound.server.transcript }) { sound.playedCount == 1 }
            try await scene.wait("it has the checkmark") {
                $0.all("list item").filter(\.isSelected).map(\.name) == [names[2]]
            }
        }

        @Test(.tags(.slow)) func `a locked setting says so and cannot be switched`() async throws {
            let scene = try await PanelScene()
            try await scene.stack.server.posthorn(
                "policy", "set", "--topic", PanelScene.app, "sound", "off", "--lock")
            try await scene.waitUntil("sound", has: "off")
            try await scene.openPanel("--settings")
            try await scene.click("list item", PanelScene.appName)
            let contents = try await scene.wait("the switch is locked") {
                $0.first("switch", "Sounds")?.isSensitive == false
            }
            let toggle = try #require(contents.first("switch", "Sounds"))
            #expect(toggle.description == "Set by your administrator" && !toggle.isOn)
            #expect(contents.texts.contains("Set by your administrator"))
            #expect(contents.first("switch", "Badges")?.isSensitive == true)
        }

        @Test(.tags(.slow)) func `a sheet confirms leaving a server, and the pairing form keeps text`() async throws {
            let scene = try await PanelScene()
            try await scene.openPanel("--settings")
            try await scene.click("button", "Leave This Server")
            let sheet = try await scene.wait("the sheet is there") { $0.first("button", "Cancel") != nil }
            try isSheet(sheet, destroying: "Leave This Server")
            try await scene.click("button", "Leave This Server")
            try await scene.click("button", "Pair With a Server")
            try await scene.waitFor("dialog", "Pair With a Server")
            #expect(try await scene.contents().first("button", "Pair")?.isSensitive == false, "nothing is typed")
            try await scene.type("https://127.0.0.1:1")
            try await scene.wait("it can be saved") { $0.first("button", "Pair")?.isSensitive == true }
            try await scene.press("Return")
            try await scene.wait("it says what is wrong and what to do") { contents in
                contents.texts.contains { $0.hasPrefix("The server cannot be reached. Check") }
            }
            // Closing the form, unlike Cancel, keeps the typed text.
            try await scene.press("alt+F4")
            try await scene.wait("the form is closed") { $0.windows.map(\.name) == ["Posthorn"] }
            try await scene.click("button", "Pair With a Server")
            try await scene.wait("what was typed is there") { $0.first("button", "Pair")?.isSensitive == true }
            try await scene.click("button", "Cancel")
            try await scene.wait("the form is closed") { $0.windows.map(\.name) == ["Posthorn"] }
            #expect(try await scene.contents().first("button", "Pair With a Server") != nil, "nothing was saved")
            // Address and code are sufficient, although the server's certificate is from its own authority.
            try await scene.click("button", "Pair With a Server")
            try await scene.waitFor("dialog", "Pair With a Server")
            try await scene.type(scene.stack.server.url)
            try await scene.press("Tab")
            try await scene.type(scene.stack.server.enrolmentCode())
            try await scene.press("Return")
            try await scene.waitFor("button", "Leave This Server")
        }

        @Test(.tags(.slow)) func `a page stays below a sheet, and a caption below its switch`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.openPanel("--settings")
            let texts = try await scene.wait("the settings are there") { $0.first("switch", "Tray Icon") != nil }.texts
            let caption = try #require(texts.firstIndex(of: "While off, notifications only appear in the list."))
            let quiet = try #require(texts.firstIndex(of: "Do Not Disturb"))
            #expect(caption < quiet, "\(texts)")

            try await scene.click("list item", PanelScene.appName)
            try await scene.click("button", "Turn Off All")
            try await scene.waitFor("button", "Cancel")
            try await scene.press("alt+Left")
            try await scene.press("Escape")
            try await scene.wait("the sheet is gone") { $0.first("button", "Cancel") == nil }
            #expect(try await scene.contents().first("list item", "Alert Style") != nil, "the page of the app")
        }

        private func isSheet(_ contents: ScreenContents, destroying title: String) throws {
            let buttons = contents.all("button").suffix(2)
            #expect(buttons.map(\.name) == [title, "Cancel"], "the destructive one on top, Cancel at the bottom")
            #expect(buttons.last?.isFocused == true)
            let window = try #require(contents.windows.first)
            for button in buttons { #expect(button.width > window.width - 80 && button.height >= 44) }
        }
    }
}
