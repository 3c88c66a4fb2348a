// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelAlertEndToEnd {
    /// Checks that the panel puts notifications off and mutes apps.
    struct PanelLaterTests {
        @Test(.tags(.slow)) func `an alert is put off by an hour, and the list says until when`() async throws {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send(PanelScene.alert("Later."))
            try await scene.waitFor("button", "Remind Me…")
            try await scene.rest()
            try await scene.click("button", "Remind Me…")
            let choices = try await scene.wait("the times are there") { $0.first("button", "In One Hour") != nil }
            let names = choices.all("button").prefix(4).map { $0.name.replacing("Tomorrow at", with: "At") }
            #expect(Set(names) == ["Back", "In One Hour", "At 18:00", "At 07:00"])
            try await scene.rest()
            try await scene.click("button", "In One Hour")
            try await scene.waitUntilEmpty()
            let entry = try #require(try await scene.user.inbox().first)
            #expect(entry.body == "Later.")
            try await scene.openPanel()
            try await scene.wait("the row says when") { contents in
                contents.first("list item") { $0.contains("Later.") && $0.contains("Reminder to") } != nil
            }
            try await scene.click("button", "Details")
            let row = try await scene.waitFor("list item", "Remind Me")
            #expect(row.description.contains(":"), "the time: \(row.description)")
            try await scene.click("list item", "Remind Me")
            try await scene.click("button", "Cancel Reminder")
            try await scene.wait("it is off") { $0.first("list item", "Remind Me")?.description == "Off" }
            try await scene.press("Escape")
            try await scene.wait("the row has no mark") { contents in
                contents.first("list item") { $0.contains("Later.") && !$0.contains("Reminder") } != nil
            }
        }

        @Test(.tags(.slow))
        func `Escape leaves the times of a reminder and not the alert, and GTK has nothing to warn of`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            let panel = try await scene.openPanel()
            try await scene.send(PanelScene.alert("Later."))
            try await scene.waitFor("button", "Remind Me…")
            for _ in 1...2 {
                try await scene.rest()
                try await scene.click("button", "Remind Me…")
                try await scene.waitFor("button", "In One Hour")
                try await scene.rest()
                try await scene.press("Escape")
                try await scene.wait("the answers are there again") { contents in
                    contents.first("button", "View")?.isFocused == true
                        && contents.first("button", "In One Hour") == nil
                }
            }
            #expect(try await scene.user.inbox().map(\.state) == ["shown"])
            try await scene.answer("Later.", becoming: "closed") { try await scene.press("Escape") }
            #expect(panel.output + panel.errorOutput == "", "\(panel.transcript)")
        }

        @Test(.tags(.slow)) func `a muted app says so in its section and in the settings, and can be unmuted in both`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.send(PanelScene.alert("One."))
            try await scene.openPanel()
            try await scene.click("button", "Mute \(PanelScene.appName)")
            try await scene.click("button", "Mute for One Hour")
            let state = "\(PanelScene.appName), Muted until "
            try await scene.click("the button says until when") { $0.first("button") { $0.hasPrefix(state) } }
            try await scene.click("button", "Unmute \(PanelScene.appName)")
            try await scene.waitUntil("muted", has: "off")
            try await scene.waitFor("button", "Mute \(PanelScene.appName)")
            try await scene.click("button", "Mute \(PanelScene.appName)")
            try await scene.click("button", "Mute for One Hour")
            try await eventually("it is muted") {
                try await scene.setting("muted")?.hasPrefix("until ") == true
            }
            try await scene.press("ctrl+3")
            try await scene.wait("the list of apps says it") { $0.texts.contains { $0.hasPrefix("Muted until ") } }
            try await scene.click("list item", PanelScene.appName)
            try await scene.wait("the row says until when") {
                $0.first("list item", "Mute")?.description.hasPrefix("Until ") == true
            }
            try await scene.click("list item", "Mute")
            try await scene.click("button", "Unmute \(PanelScene.appName)")
            try await scene.waitUntil("muted", has: "off")
        }
    }
}
