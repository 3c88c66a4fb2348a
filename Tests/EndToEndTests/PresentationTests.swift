// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceScreenEndToEnd {
    /// Checks the alerts, badges and sounds that reach a user, and that the settings apply.
    struct PresentationTests {
        /// A payload with a unique title, because the same text twice within a second would be shown once.
        private var everything: String {
            let title = "Lunch \(UUID().uuidString)"
            return #"{"aps":{"alert":{"title":"\#(title)","body":"At noon"},"badge":4,"sound":"default"}}"#
        }

        @Test(.tags(.slow)) func `badge, sound and alert appear alone and together`() async throws {
            let desk = try await DesktopSession()
            let daemon = try await desk.screen.start(.dunst)
            let cases: [(String, DesktopSession.Reached)] = [
                (#"{"aps":{"badge":3}}"#, .init(badges: [3])),
                (#"{"aps":{"badge":0}}"#, .init(badges: [0])),
                (#"{"aps":{"sound":"default"}}"#, .init(soundCount: 1)),
                (#"{"aps":{"alert":"Hello"}}"#, .init(alertCount: 1)),
                (everything, .init(alertCount: 1, badges: [4], soundCount: 1)),
                (#"{"aps":{}}"#, .init()),
            ]
            for (payload, expected) in cases {
                #expect(try await desk.send(payload, expecting: expected) == expected, "\(payload)")
            }
            #expect(daemon.exit == nil)
        }

        @Test(.tags(.slow)) func `a setting switches badge, sound and alert off and on again`() async throws {
            let desk = try await DesktopSession()
            let daemon = try await desk.screen.start(.dunst)
            let cases: [(String, DesktopSession.Reached)] = [
                ("badge", .init(alertCount: 1, soundCount: 1)),
                ("sound", .init(alertCount: 1, badges: [4])),
                ("alert", .init(badges: [4], soundCount: 1)),
            ]
            for (setting, expected) in cases {
                try await desk.stack.user.posthorn("settings", "set", DesktopSession.app, setting, "off")
                #expect(try await desk.send(everything, expecting: expected) == expected, "\(setting) off")
                try await desk.stack.user.posthorn("settings", "set", DesktopSession.app, setting, "on")
            }
            let all = DesktopSession.Reached(alertCount: 1, badges: [4], soundCount: 1)
            #expect(try await desk.send(everything, expecting: all) == all)
            #expect(daemon.exit == nil)
        }

        @Test func `a missing sound is replaced by the default, and the log has its name`() async throws {
            let desk = try await DesktopSession()
            let daemon = try await desk.screen.start(.dunst)
            let heard = DesktopSession.Reached(soundCount: 1)
            #expect(try await desk.send(#"{"aps":{"sound":"no-such-tone"}}"#, expecting: heard) == heard)
            let log = desk.stack.user.agent.now.errorOutput
            #expect(log.contains("event=sound_unknown") && log.contains("sound=no-such-tone"), "\(log)")
            #expect(daemon.exit == nil)
        }

        @Test func `the master switch suppresses everything, and keeps it in the inbox`() async throws {
            let desk = try await DesktopSession()
            let daemon = try await desk.screen.start(.dunst)
            try await desk.stack.user.posthorn("settings", "set", "master", "off")
            let reached = try await desk.sendWhileSilent(everything)
            #expect(reached == DesktopSession.Reached())
            let entry = try await desk.stack.user.waitForEntry("it is in the inbox") { $0.body == "At noon" }
            #expect(entry.state == "suppressed" && !entry.reason.isEmpty)
            try await desk.stack.user.posthorn("settings", "set", "master", "on")
            let all = DesktopSession.Reached(alertCount: 1, badges: [4], soundCount: 1)
            #expect(try await desk.send(everything, expecting: all) == all)
            #expect(daemon.exit == nil)
        }

        @Test(.tags(.slow)) func `the desktop's own switch for event sounds silences only while it is off`()
            async throws
        {
            let desk = try await DesktopSession()
            let daemon = try await desk.screen.start(.dunst)
            let user = desk.stack.user
            func switchSounds(_ value: String) throws {
                try user.files.makeDirectory("config/gtk-4.0")
                try user.files.write(
                    "[Settings]\ngtk-enable-event-sounds=\(value)\n", to: "config/gtk-4.0/settings.ini")
            }
            try switchSounds("0")
            let quiet = SentNotification(
                token: desk.stack.token, payload: #"{"aps":{"alert":"quiet","sound":"default"}}"#)
            #expect(try await desk.stack.provider.send(quiet).status == 200)
            try await user.waitForEntry("the alert is shown") { $0.body == "quiet" && $0.state == "shown" }
            #expect(try await user.posthorn("inbox", "list", "--json").output.contains("sound:muted"))
            try switchSounds("1")
            let heard = DesktopSession.Reached(alertCount: 1, soundCount: 1)
            #expect(try await desk.send(#"{"aps":{"alert":"heard","sound":"default"}}"#, expecting: heard) == heard)
            #expect(desk.sound.playedCount == 3, "that one, and the two that mark the end: \(desk.transcript)")
            #expect(daemon.exit == nil)
        }

        @Test func `an alert that arrived before the desktop started is shown once when it has`() async throws {
            let desk = try await DesktopSession()
            let user = desk.stack.user
            #expect(try await desk.stack.provider.send(desk.stack.notification("early")).status == 200)
            try await user.waitForEntry("it waits") { $0.body == "early" && $0.state == "waiting" }
            try await user.agent.killNow()
            let daemon = try await desk.screen.start(.dunst)
            try await user.startAgent()
            try await user.waitForEntry("it is shown") { $0.body == "early" && $0.state == "shown" }
            #expect(desk.alertTexts.filter { $0.contains("early") }.count == 1)

            try await user.agent.killNow()
            try await user.startAgent()
            try await user.waitUntilConnected()
            let alert = DesktopSession.Reached(alertCount: 1)
            #expect(try await desk.send(#"{"aps":{"alert":"later"}}"#, expecting: alert) == alert)
            #expect(desk.alertTexts.filter { $0.contains("early") }.count == 1)
            #expect(daemon.exit == nil)
        }

        @Test(.tags(.slow)) func `the agent opens no window, or GNOME would assign every alert to it`()
            async throws
        {
            let desk = try await DesktopSession()
            let daemon = try RunningProcess(
                "/usr/bin/python3", ["-m", "dbusmock", "--session", "--template", "notification_daemon"],
                environment: desk.screen.environment)
            try await desk.screen.bus.waitForOwner(
                of: "org.freedesktop.Notifications", evidence: { daemon.transcript })
            let reached = try await desk.send(everything, expecting: .init(alertCount: 1, badges: [4], soundCount: 1))
            #expect(reached == .init(alertCount: 1, badges: [4], soundCount: 1))
            let windows = try await RunningProcess.run(
                RepositoryPaths.tool("xwininfo"), ["-root", "-children"], environment: desk.screen.environment)
            #expect(windows.output.contains("0 children."), "\(windows)")
        }
    }
}
