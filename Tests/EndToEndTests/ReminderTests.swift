// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceScreenEndToEnd {
    /// Checks reminders and mutes with the real programs, over kills and jumps of the clock.
    @Suite(.preloadsLibrary) struct ReminderTests {
        private let clock: UserClock
        private let bus: DesktopBus
        private let daemon: RecordingDaemon
        private let stack: TestStack

        init() async throws {
            clock = try UserClock()
            bus = try await DesktopBus()
            daemon = try await RecordingDaemon(bus)
            stack = try await TestStack(bus: bus, environment: clock.environment)
        }

        private func send(_ body: String, _ members: String = "") async throws {
            let payload = #"{"aps":{"alert":"\#(body)"\#(members)}}"#
            #expect(try await stack.provider.send(SentNotification(token: stack.token, payload: payload)).status == 200)
        }

        private func wait(for body: String, _ state: String) async throws {
            try await stack.user.waitForEntry("\(body) is \(state)") { $0.body == body && $0.state == state }
        }

        private func restartAgent() async throws {
            try await stack.user.agent.killNow()
            try await stack.user.startAgent()
        }

        private var shown: [String] { daemon.shown().map(\.call.body) }

        @Test func `a reminder appears once after kill -9, at its time`() async throws {
            try await send("lunch")
            try await wait(for: "lunch", "shown")
            let answer = try await stack.user.posthorn("inbox", "remind", "1", "1h").output
            #expect(answer.hasPrefix("Notification 1 is shown again at "), "\(answer)")
            try await wait(for: "lunch", "closed")
            try await restartAgent()
            #expect(try await stack.user.posthorn("inbox", "list").output.contains("REMINDER"))
            #expect(try await stack.user.wholeInbox().map(\.state) == ["closed"] && shown == ["lunch"])
            try await stack.user.agent.killNow()
            try clock.jump(to: "+61m")
            try await stack.user.startAgent()
            try await wait(for: "lunch", "shown")
            #expect(shown == ["lunch", "lunch"])
            #expect(try await stack.user.wholeInbox().map(\.read) == [false])
            try await restartAgent()
            try await send("dinner")
            try await wait(for: "dinner", "shown")
            #expect(shown.suffix(1) == ["dinner"] && shown.count { $0 == "lunch" } <= 3)
            #expect(!(try await stack.user.posthorn("inbox", "list").output.contains("REMINDER")))
        }

        @Test func `a running agent shows a reminder at its time, and the server hears of it once`() async throws {
            try await send("tea")
            try await wait(for: "tea", "shown")
            let id = try #require(try await stack.user.inbox().first?.id)
            try await stack.user.posthorn("inbox", "remind", "1", "2s")
            try await wait(for: "tea", "closed")
            try await wait(for: "tea", "shown")
            #expect(shown == ["tea", "tea"])
            let refused = try await stack.user.run(["inbox", "remind", "1", "1999-12-31", "08:00"])
            #expect(refused.exit == .code(2) && refused.errorOutput.contains("in the past"), "\(refused)")
            try await send("coffee")
            try await wait(for: "coffee", "shown")
            try await eventually("the server has the answer") {
                try await trace(id).contains("closed")
            }
            #expect(try await trace(id).filter { $0 == "shown" }.count == 1)
        }

        /// Returns the events of a notification.
        private func trace(_ id: String) async throws -> [String] {
            let text = try await stack.server.posthorn("trace", id, "--json").output
            return text.matches(of: /"event": ?"([a-z-]+)"/).map { String($0.1) }
        }

        @Test func `a muted app is silent until the end, also over kills, and an administrator can prevent it`()
            async throws
        {
            let app = TestStack.app
            #expect(try await stack.user.posthorn("settings", "mute", app).output.contains("is muted until"))
            try await restartAgent()
            try await stack.user.waitUntilConnected()
            try await send("one", #","interruption-level":"time-sensitive""#)
            try await wait(for: "one", "suppressed")
            #expect(try await stack.user.inbox().first?.reason == "app-muted" && shown.isEmpty)
            #expect(try await stack.user.posthorn("settings", "show", app).output.contains(/muted +until 20/))
            try clock.jump(to: "+61m")
            #expect(try await stack.user.posthorn("settings", "show", app).output.contains(/muted +off/))
            try await send("two")
            try await wait(for: "two", "shown")
            try clock.jump(to: "+0")
            try await stack.server.posthorn("policy", "set", "--topic", app, "muted", "off", "--lock")
            try await eventually("the policy applies", evidence: { stack.user.agent.now.transcript }) {
                try await stack.user.posthorn("settings", "show", app).output.contains(/muted +off +set by/)
            }
            let refused = try await stack.user.run(["settings", "mute", app, "tomorrow"])
            #expect(refused.exit != .code(0) && refused.errorOutput.contains("administrator"), "\(refused)")
            try await send("three")
            try await wait(for: "three", "shown")
        }
    }
}
