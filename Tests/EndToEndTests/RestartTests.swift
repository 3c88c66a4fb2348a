// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceScreenEndToEnd {
    /// Restarts an agent while its alerts are on the screen of a real notification daemon.
    struct RestartTests {
        private let payload = #"{"aps":{"alert":{"title":"Lunch","body":"At noon"}}}"#

        private func restart(_ desk: DesktopSession) async throws {
            try await desk.stack.user.agent.killNow()
            try await desk.stack.user.startAgent()
            try await desk.stack.user.waitUntilConnected()
        }

        @Test(.tags(.slow), arguments: ViewTests.daemons)
        func `View opens the app after a restart of the agent, and Close does not`(
            buttons: ViewTests.Buttons
        ) async throws {
            let desk = try await DesktopSession()
            try await desk.screen.keepRunning(buttons.server)
            try await desk.show(payload)
            try await restart(desk)
            try await desk.click("viewed", fromRight: buttons.viewFromRight, fromBottom: buttons.fromBottom)
            try await eventually("the app is opened", evidence: { desk.transcript }) { desk.opened.count == 1 }

            try await desk.show(payload)
            try await restart(desk)
            try await desk.click("closed", fromRight: buttons.closeFromRight, fromBottom: buttons.fromBottom)
            #expect(desk.opened.count == 1)
        }

        @Test(.tags(.slow)) func `a click on dunst reaches the next agent, not only the sender`() async throws {
            let desk = try await DesktopSession()
            try await desk.screen.keepRunning(.dunst)
            try await desk.stack.user.posthorn("settings", "set", DesktopSession.app, "alert", "alert")
            try await desk.show(payload)
            try await restart(desk)
            try await eventually("the alert is viewed", evidence: { desk.transcript }) {
                if let frame = try await desk.screen.alertFrames().first {
                    try await desk.screen.click(frame.place(fromLeft: 60, fromTop: 40), button: 2)
                }
                return try await desk.stack.user.inbox(limit: 1).first?.state == "viewed"
            }
            try await eventually("the app is opened", evidence: { desk.transcript }) { desk.opened.count == 1 }
        }

        // notification-daemon keeps its window open whichever process calls CloseNotification.
        @Test(.tags(.slow), arguments: [DesktopScreen.Server.dunst, .xfce])
        func `clearing the inbox closes alerts that an earlier agent showed`(
            server: DesktopScreen.Server
        ) async throws {
            let desk = try await DesktopSession()
            try await desk.screen.keepRunning(server)
            try await desk.show(payload)
            try await restart(desk)
            #expect(try await desk.screen.alertFrames().count == 1)
            try await desk.stack.user.posthorn("inbox", "clear", "--yes")
            try await eventually("the screen is empty", evidence: { desk.transcript }) {
                try await desk.screen.alertFrames().isEmpty
            }
        }
    }
}
