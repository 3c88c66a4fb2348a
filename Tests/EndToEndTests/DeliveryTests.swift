// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceScreenEndToEnd {
    /// Checks that accepted notifications arrive once and in order, whichever process ends in between.
    struct DeliveryTests {
        @Test func `a notification accepted before the server was killed arrives once`() async throws {
            let stack = try await TestStack()
            // The agent keeps its connection but reads nothing: the server can accept, and cannot finish delivering.
            stack.user.agent.now.send(SIGSTOP)
            let sent = try await stack.provider.send(stack.notification("before the kill"))
            #expect(sent.status == 200)
            try await stack.server.process.killNow()
            stack.user.agent.now.send(SIGCONT)
            try await stack.server.start()
            try await stack.user.waitForEntry("the notification arrives") { $0.body == "before the kill" }
            #expect(try await stack.bodiesUpToMarker() == ["before the kill"])
        }

        @Test func `a notification delivered but not acknowledged is shown as one entry`() async throws {
            let stack = try await TestStack()
            #expect(try await stack.provider.send(stack.notification("in doubt")).status == 200)
            try await stack.user.waitForEntry("it arrives") { $0.body == "in doubt" }
            for _ in 0..<3 {
                try await stack.user.agent.killNow()
                try await stack.server.process.killNow()
                try await stack.server.start()
                try await stack.user.startAgent()
                try await stack.user.waitUntilConnected()
            }
            #expect(try await stack.bodiesUpToMarker() == ["in doubt"])
        }

        @Test func `fifty notifications sent while the device is off arrive in the order of sending`() async throws {
            let stack = try await TestStack()
            try await stack.user.agent.killNow()
            let texts = (0..<50).map { "number \($0)" }
            let sent = try await stack.provider.send(texts.map(stack.notification), concurrency: 1)
            #expect(sent.allSatisfy { $0.status == 200 })
            try await stack.user.startAgent()
            try await stack.user.waitForEntry("the last arrives") { $0.body == texts.last }
            #expect(try await stack.user.inbox().map(\.body).reversed() == texts)
        }

        @Test(.tags(.slow))
        func `ten restarts under a provider's load lose nothing that was accepted`() async throws {
            let server = try await InstalledServer()
            let topics = (0..<20).map { "org.example.App\($0)" }
            for topic in topics { try await server.posthorn("app", "add", topic) }
            let target = try await server.addApp("org.example.Mail")
            let keyFile = server.files.path(of: "all.p8")
            let key = try await server.createKey(output: keyFile)
            let bus = try await DesktopBus()
            let user = try await DeviceUser(busAddress: bus.address)
            try await user.enrol(with: server)
            var addresses: [APNsProvider.Address] = []
            for topic in topics {
                addresses.append(.init(token: try await user.register(topic, name: topic), topic: topic))
            }
            try await user.agent.killNow()

            var teamWide = target
            (teamWide.keyFile, teamWide.keyID, teamWide.teamID) = (keyFile, key.keyID, key.teamID)
            let provider = try await APNsProvider(teamWide, connectionAttempts: 1)
            try await provider.startLoad(addresses, countPerAddress: 100)
            for round in 0..<10 {
                try await eventually("round \(round): notifications are accepted") {
                    try await server.admin.status().counts.accepted >= 25
                }
                // Half of the servers are killed without a chance to clean up.
                server.process.now.send(round.isMultiple(of: 2) ? SIGKILL : SIGTERM)
                try await server.process.now.waitForExit()
                try await server.start()
            }
            let load = try await provider.stopLoad()
            #expect(load.accepted.count >= 250)

            try await user.startAgent()
            try await eventually("all arrive", within: .seconds(60), evidence: { user.agent.now.transcript }) {
                try await server.admin.status().counts.pending == 0
            }
            let arrived = Set(try await user.inbox(limit: 5000).map(\.body))
            #expect(Set(load.accepted).subtracting(arrived).isEmpty, "of \(load.accepted.count), \(load.refused)")
        }

        @Test func `an unregistered token answers 410 with a time in milliseconds, and the next token is valid`()
            async throws
        {
            let stack = try await TestStack()
            let before = Int64(Date().timeIntervalSince1970 * 1000)
            try await stack.user.posthorn("unregister", TestStack.app)
            let refused = try await stack.provider.send(stack.notification("too late"))
            let after = Int64(Date().timeIntervalSince1970 * 1000)
            #expect(refused.status == 410 && refused.reason == "Unregistered")
            #expect((before...after).contains(try #require(refused.timestamp)))

            let token = try await stack.user.register(TestStack.app, name: "Example Mail")
            #expect(token != stack.token)
            let again = SentNotification(token: token, payload: #"{"aps":{"alert":"again"}}"#)
            #expect(try await stack.provider.send(again).status == 200)
            try await stack.user.waitForEntry("it arrives") { $0.body == "again" }
            #expect(try await stack.provider.send(stack.notification("still too late")).status == 410)
        }

        @Test func `a newer notification with the same collapse ID replaces the waiting one`() async throws {
            let stack = try await TestStack()
            try await stack.user.agent.killNow()
            var score = stack.notification("1:0")
            score.collapseID = "score"
            #expect(try await stack.provider.send(score).status == 200)
            score.payload = #"{"aps":{"alert":"2:0"}}"#
            #expect(try await stack.provider.send(score).status == 200)
            #expect(try await stack.server.admin.status().counts.pending == 1)
            try await stack.user.startAgent()
            try await stack.user.waitForEntry("the newer arrives") { $0.body == "2:0" }
            #expect(try await stack.bodiesUpToMarker() == ["2:0"])
        }

        @Test func `an administrator sees whose device it is, and which agent it runs`() async throws {
            let stack = try await TestStack()
            let listed = try await stack.server.posthorn("device", "list", "--json").output
            struct Devices: Decodable {
                let devices: [Device]

                struct Device: Decodable {
                    let device_id, name, agent: String
                }
            }
            let device = try #require(
                try JSONDecoder().decode(Devices.self, from: Data(listed.utf8)).devices.first, "\(listed)")
            #expect(device.name.hasPrefix("\(NSUserName())@") && device.agent.hasPrefix("posthorn-agent/"))
            try await stack.server.posthorn("device", "rename", device.device_id, "kiosk 7")
            let shown = try await stack.server.posthorn("device", "show", device.device_id).output
            #expect(shown.contains("kiosk 7") && shown.contains(device.agent), "\(shown)")
        }

        @Test func `an expired notification never arrives`() async throws {
            let stack = try await TestStack()
            try await stack.user.agent.killNow()
            var late = stack.notification("late")
            late.timeToLiveSeconds = 1
            #expect(try await stack.provider.send(late).status == 200)
            let sentAt = Date()
            try await eventually("its second has passed") { Date().timeIntervalSince(sentAt) > 2.1 }
            try await stack.user.startAgent()
            try await stack.user.waitUntilConnected()
            #expect(try await stack.bodiesUpToMarker().isEmpty)
        }
    }
}
