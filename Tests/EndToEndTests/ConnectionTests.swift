// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// Checks a connection that breaks, and the user's view of it.
    struct ConnectionTests {
        private struct Status: Decodable {
            var connected: Bool
            var connected_since: Int64
            var last_connected: Int64
            var last_error: String
        }

        private func status(of user: DeviceUser) async throws -> Status {
            let output = try await user.run(["agent", "status", "--json"]).succeeded().output
            return try JSONDecoder().decode(Status.self, from: Data(output.utf8))
        }

        @Test(.tags(.slow)) func `a silently broken connection is detected within half a minute and replaced`()
            async throws
        {
            let proxy = try await ScriptedProxy()
            let stack = try await TestStack(environment: ["https_proxy": proxy.url, "no_proxy": ""])
            let agent = stack.user.agent.now
            #expect(!proxy.targets.isEmpty, "the agent goes by way of the proxy")
            let first = try await status(of: stack.user)
            try await proxy.fallSilent()
            let end = /event=disconnected reason="the server sent nothing for (\d+) s; reconnecting"/
            let seconds = try await eventualValue(
                "its end is noticed", within: .seconds(60), evidence: { agent.transcript }
            ) { agent.errorOutput.firstMatch(of: end).flatMap { Int($0.output.1) } }
            // Only the lateness of the agent's timer grows on a slow machine.
            let limit = Duration.seconds(30) + Duration.seconds(5) * (Patience.factor - 1)
            #expect(Duration.seconds(seconds) <= limit)
            try await stack.user.waitUntilConnected()
            let second = try await status(of: stack.user)
            #expect(second.connected_since > first.connected_since && second.last_error.isEmpty)
            _ = try await stack.provider.send(stack.notification("Still here"))
            try await stack.user.waitForEntry("what is sent then comes") { $0.body == "Still here" }
            #expect(try await stack.user.inbox().count == 1)
        }

        @Test func `a machine that sleeps says goodbye to the server, and reconnects when it wakes`() async throws {
            let system = try await DesktopBus()
            let logind = try RunningProcess(
                "/usr/bin/python3", ["-m", "dbusmock", "--system", "--template", "logind"],
                environment: ["DBUS_SYSTEM_BUS_ADDRESS": system.address])
            try await system.waitForOwner(of: "org.freedesktop.login1", evidence: { logind.transcript })
            let stack = try await TestStack(environment: ["DBUS_SYSTEM_BUS_ADDRESS": system.address])
            let agent = stack.user.agent.now
            for isBeginning in [true, false] {
                try await system.busctl(
                    "call", "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.DBus.Mock",
                    "EmitSignal", "sssav", "org.freedesktop.login1.Manager", "PrepareForSleep", "b", "1", "b",
                    "\(isBeginning)"
                ).succeeded()
                let expected =
                    isBeginning ? #"event=disconnected reason="the machine was suspended""# : "event=machine news=wakes"
                try await eventually("it hears: \(expected)", evidence: { agent.transcript }) {
                    agent.errorOutput.contains(expected)
                }
                if isBeginning { #expect(try await status(of: stack.user).connected == false) }
            }
            try await stack.user.waitUntilConnected()
            #expect(try await stack.user.inbox().isEmpty)
        }

        @Test func `an unreachable server is reported in the status, and nowhere else`() async throws {
            let stack = try await TestStack()
            let before = try await status(of: stack.user)
            #expect(before.connected && before.connected_since > 0 && before.last_connected >= before.connected_since)
            try await stack.server.process.killNow()
            let after = try await eventualValue("the status tells") {
                let status = try await status(of: stack.user)
                return status.connected ? nil : status
            }
            #expect(after.connected_since == 0 && after.last_connected >= before.connected_since)
            #expect(!after.last_error.isEmpty)
            let text = try await stack.user.run(["agent", "status"]).succeeded().output
            #expect(text.contains("no; last ") && text.contains("Last error"))
            #expect(try await stack.user.inbox().isEmpty)
        }
    }
}
