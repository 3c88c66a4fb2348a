// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceAPIEndToEnd {
    /// Checks broadcasts on their way from the channel to the screen of a user whose app has subscribed.
    struct BroadcastTests {
        @Test(.tags(.slow))
        func `a broadcast is an alert on the desktop, and its channel's next one replaces it`() async throws {
            let desk = try await DesktopSession()
            let daemon = try await desk.screen.start(.dunst)
            let studio = try await BroadcastProvider(desk.stack)
            let (game, other) = (try await studio.createChannel(), try await studio.createChannel())
            for channel in [game, other] { try await desk.stack.user.posthorn("subscribe", TestStack.app, channel) }

            try await studio.publish(#"{"aps":{"alert":{"title":"1:0","body":"Goal"},"event":"update"}}"#, to: game)
            try await desk.stack.user.waitForEntry("it is shown") { $0.title == "1:0" && $0.state == "shown" }
            try await eventually("the alert is on the screen") { try await desk.screen.alertFrames().count == 1 }
            try await studio.publish(#"{"aps":{"alert":{"title":"2:0","body":"Goal"}}}"#, to: game)
            try await desk.stack.user.waitForEntry("the next is shown") { $0.title == "2:0" && $0.state == "shown" }
            #expect(replacedIDs(desk).map { $0 == 0 } == [true, false], "in the place of the one before")
            try await studio.publish(#"{"aps":{"alert":{"title":"Kick-off"}}}"#, to: other)
            try await desk.stack.user.waitForEntry("the other is shown") {
                $0.title == "Kick-off" && $0.state == "shown"
            }
            #expect(replacedIDs(desk).map { $0 == 0 } == [true, false, true], "another channel has a place of its own")
            #expect(daemon.exit == nil)
        }

        @Test func `badge and sound arrive with a broadcast, and an update without text has no entry`() async throws {
            let stack = try await TestStack()
            let studio = try await BroadcastProvider(stack)
            let channel = try await studio.createChannel()
            try await stack.user.posthorn("subscribe", TestStack.app, channel)
            try await studio.publish(
                #"{"aps":{"content-state":{"score":"1:0"},"event":"update","badge":5}}"#, to: channel)
            #expect(try await stack.bodiesUpToMarker() == [])
            #expect(try await app(of: stack.user).badge == 5)
        }

        @Test func `settings suppress a broadcast like other notifications`() async throws {
            let stack = try await TestStack()
            let studio = try await BroadcastProvider(stack)
            let channel = try await studio.createChannel()
            try await stack.user.posthorn("subscribe", TestStack.app, channel)
            try await stack.user.posthorn("settings", "set", "master", "off")
            try await studio.publish(#"{"aps":{"alert":"unseen"}}"#, to: channel)
            let entry = try await stack.user.waitForEntry("it is in the inbox") { $0.body == "unseen" }
            #expect(entry.state == "suppressed" && entry.reason == "master-off")
        }

        @Test func `an app that unsubscribed gets no broadcasts, and one that subscribes again does`() async throws {
            let stack = try await TestStack()
            let studio = try await BroadcastProvider(stack)
            let channel = try await studio.createChannel()
            try await stack.user.posthorn("subscribe", TestStack.app, channel)
            #expect(try await studio.subscriptionCount(of: channel) == 1)
            try await stack.user.posthorn("unsubscribe", TestStack.app, channel)
            try await eventually("the server knows") { try await studio.subscriptionCount(of: channel) == 0 }
            try await studio.publish(#"{"aps":{"alert":"between"}}"#, to: channel)
            #expect(try await stack.bodiesUpToMarker() == [])
            try await stack.user.posthorn("subscribe", TestStack.app, channel)
            try await studio.publish(#"{"aps":{"alert":"after"}}"#, to: channel)
            try await stack.user.waitForEntry("it arrives") { $0.body == "after" }
        }

        @Test func `a channel's stored broadcast reaches a device that was off, once`() async throws {
            let stack = try await TestStack()
            let studio = try await BroadcastProvider(stack)
            let channel = try await studio.createChannel(policy: "last")
            try await stack.user.posthorn("subscribe", TestStack.app, channel)
            try await stack.user.agent.killNow()
            let expiration = Int64(Date().timeIntervalSince1970) + 3600
            for text in ["1:0", "2:0"] {
                try await studio.publish(#"{"aps":{"alert":"\#(text)"}}"#, to: channel, expiration: expiration)
            }
            for _ in 1...2 {
                try await stack.user.startAgent()
                try await stack.user.waitForEntry("the last arrives") { $0.body == "2:0" }
                #expect(try await stack.bodiesUpToMarker().filter { !$0.hasPrefix("marker") } == ["2:0"])
                try await stack.user.agent.killNow()
            }
        }

        @Test func `a subscription made while the server is away is sent when it is back`() async throws {
            let stack = try await TestStack()
            let studio = try await BroadcastProvider(stack)
            let channel = try await studio.createChannel()
            try await stack.server.process.killNow()
            try await eventually("the agent noticed") {
                try await !stack.user.posthorn("agent", "status", "--json").output.contains(#""connected":true"#)
            }
            let answer = try await stack.user.posthorn("subscribe", TestStack.app, channel, "--json")
            #expect(answer.output.contains(#""state":"pending""#))
            #expect(try await app(of: stack.user).pendingChannels == [channel])
            try await stack.server.start()
            try await eventually("the server was told") { try await app(of: stack.user).pendingChannels.isEmpty }
            #expect(try await app(of: stack.user).channels == [channel])
            #expect(try await studio.subscriptionCount(of: channel) == 1)
        }

        @Test func `an unknown channel is refused, and a removed one leaves a notice at the next start`() async throws {
            let stack = try await TestStack()
            let studio = try await BroadcastProvider(stack)
            let (kept, removed) = (try await studio.createChannel(), try await studio.createChannel())
            for channel in [kept, removed] { try await stack.user.posthorn("subscribe", TestStack.app, channel) }
            try await stack.server.posthorn("channel", "remove", TestStack.app, removed, "--yes")
            let refused = try await stack.user.run(["subscribe", TestStack.app, "AAAAAAAAAAAAAAAAAAAAAA=="])
            #expect(refused.exit == .code(4) && refused.errorOutput.contains("404 UnknownChannel"))
            try await stack.user.agent.killNow()
            try await stack.user.startAgent()
            try await eventually("it is gone") { try await app(of: stack.user).channels == [kept] }
            let status = try await stack.user.posthorn("agent", "status").output
            #expect(status.contains("The subscription of \(TestStack.app) to channel \(removed) ended"))
        }

        // MARK: Environments

        @Test func `a development token works only in development, and so do its channels`() async throws {
            let stack = try await TestStack()
            let studio = try await BroadcastProvider(stack)
            let channels = [
                try await studio.createChannel(), try await studio.createChannel(environment: "development"),
            ]
            try await stack.user.posthorn("subscribe", TestStack.app, channels[0])
            let token = try await stack.user.posthorn("register", TestStack.app, "-e", "development").output
                .trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(token != stack.token)
            let development = SentNotification(token: token, payload: #"{"aps":{"alert":"x"}}"#)
            let answer = try await stack.provider.send(development)
            #expect(answer.status == 400 && answer.reason == "BadDeviceToken", "\(answer)")
            #expect(try await stack.provider.send(stack.notification("too late")).status == 410)
            try await eventually("the channel of production is gone") {
                try await app(of: stack.user).channels.isEmpty
            }
            try await stack.user.posthorn("subscribe", TestStack.app, channels[1])
            #expect(try await app(of: stack.user).environment == "development")
            try await studio.publish(#"{"aps":{"alert":"hello"}}"#, to: channels[1], environment: "development")
            try await stack.user.waitForEntry("it arrives") { $0.body == "hello" }
        }

        @Test func `a device that was away for too long gets new tokens and its channels when it returns`() async throws
        {
            let stack = try await TestStack()
            let studio = try await BroadcastProvider(stack)
            let channel = try await studio.createChannel()
            try await stack.user.posthorn("subscribe", TestStack.app, channel)
            try await stack.user.agent.killNow()
            try await stack.server.process.killNow()
            try await expireRegistrations(of: stack.server)
            try await stack.server.start()
            let answer = try await stack.provider.send(stack.notification("away"))
            #expect(answer.status == 410 && answer.reason == "ExpiredToken" && answer.timestamp == 1000, "\(answer)")

            let signals = try await stack.bus.monitor("type='signal',member='TokenChanged'")
            try await stack.user.startAgent()
            try await eventually("the app has another token", evidence: { stack.user.agent.now.transcript }) {
                let token = try await app(of: stack.user).deviceToken
                return !token.isEmpty && token != stack.token && signals.output.contains(TestStack.app)
            }
            let token = try await app(of: stack.user).deviceToken
            #expect(!signals.output.contains(token), "every program on the bus hears it")
            let again = SentNotification(token: token, payload: #"{"aps":{"alert":"back"}}"#)
            #expect(try await stack.provider.send(again).status == 200)
            try await stack.user.waitForEntry("it arrives") { $0.body == "back" }
            try await eventually("the channel is there again") { try await studio.subscriptionCount(of: channel) == 1 }
        }

        /// Changes the database of a stopped server as its sweep does after many days.
        private func expireRegistrations(of server: InstalledServer) async throws {
            let script = """
                import sqlite3, sys
                with sqlite3.connect(sys.argv[1]) as database:
                    database.execute("DELETE FROM subscriptions")
                    changed = database.execute("UPDATE registrations SET live = 0, ended_at_ms = 1000, expired = 1")
                    assert changed.rowcount == 1
                """
            try await RunningProcess.run(
                RepositoryPaths.tool("python3"), ["-c", script, server.files.path(of: "data/posthorn.sqlite")]
            ).succeeded()
        }

        /// Returns the replaced ID in each Notify call that the monitor recorded.
        private func replacedIDs(_ desk: DesktopSession) -> [UInt32] {
            desk.alertTexts.compactMap { $0.firstMatch(of: /uint32 ([0-9]+)/).flatMap { UInt32($0.1) } }
        }

        private func app(of user: DeviceUser) async throws -> RegisteredApp {
            try await user.posthorn("settings", "show", TestStack.app, "--json").decoded(Shown.self).app
        }

        private struct Shown: Decodable { let app: RegisteredApp }

        private struct RegisteredApp: Decodable {
            let deviceToken: String
            let environment: String
            let badge: Int
            let channels: [String]
            let pendingChannels: [String]

            enum CodingKeys: String, CodingKey {
                case environment, badge, channels
                case deviceToken = "device_token"
                case pendingChannels = "pending_channels"
            }
        }
    }
}
