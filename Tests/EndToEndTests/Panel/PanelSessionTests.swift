// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelListEndToEnd {
    /// Checks the alert on the screen when the session ends, for each way in which sessions end.
    struct PanelSessionTests {
        /// A session manager, implemented by `session_manager.py`.
        private struct SessionManager {
            private let script: ScriptedProcess

            init(on screen: DesktopScreen) async throws {
                script = try ScriptedProcess(
                    systemScript: "Panel/session_manager.py", environment: screen.environment)
                try await screen.bus.waitForOwner(of: "org.gnome.SessionManager")
            }

            func perform(_ op: String) async throws -> State { try await script.ask(["op": op]) }

            struct State: Decodable {
                let clients: [String]
                let agreed: [String]
            }
        }

        @Test(.tags(.slow)) func `the end of the session closes the alert on the screen, and no other`() async throws {
            let scene = try await PanelScene()
            let manager = try await SessionManager(on: scene.screen)
            try await scene.useAlerts()
            try await scene.send(["On the screen.", "Behind it."].map(PanelScene.alert))
            try await scene.wait("the first is on the screen") { $0.texts.contains("On the screen.") }
            var state = try await manager.perform("clients")
            try await eventually("the panel is known to the session", evidence: { "\(state)" }) {
                state = try await manager.perform("clients")
                return state.clients.contains(PanelScene.busName)
            }
            _ = try await manager.perform("end")
            try await scene.waitUntil("On the screen.", is: "closed")
            try await eventually("the panel agreed to the end", evidence: { "\(state)" }) {
                state = try await manager.perform("clients")
                return state.agreed.contains(PanelScene.busName)
            }
            #expect(try await scene.user.inbox().first { $0.body == "Behind it." }?.state == "shown")
            #expect(scene.opened.isEmpty)
        }

        @Test(.tags(.slow)) func `a lost bus ends the panel and keeps the alert for the next session`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send(PanelScene.alert("Kept."))
            try await scene.wait("it is on the screen") { $0.texts.contains("Kept.") }
            let panel = try #require(try await scene.panelProcess())
            try await scene.screen.bus.stop()
            try await isGone(panel)
            try await scene.user.agent.now.waitForExit()
            try await isKept("Kept.", in: scene)
        }

        @Test(.tags(.slow)) func `a lost display ends the panel and keeps the alert in the agent`() async throws {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send(PanelScene.alert("Kept."))
            try await scene.wait("it is on the screen") { $0.texts.contains("Kept.") }
            let panel = try #require(try await scene.panelProcess())
            try await scene.screen.endDisplay()
            try await isGone(panel)
            #expect(try await scene.user.inbox().map(\.state) == ["shown"])
            // Senders notice nothing of this, and the agent continues.
            try await scene.send(PanelScene.alert("Later."))
            try await scene.user.waitForEntry("the agent still takes what comes") { $0.body == "Later." }
            #expect(try await scene.user.inbox().allSatisfy { $0.state != "closed" && $0.state != "viewed" })
            #expect(scene.opened.isEmpty)
        }

        private func isGone(_ process: Int32) async throws {
            try await eventually("process \(process) is gone") { kill(process, 0) != 0 }
        }

        /// Checks that an agent on another bus, as in the next session, has the alert unanswered.
        private func isKept(_ body: String, in scene: PanelScene) async throws {
            let bus = try await DesktopBus()
            let agent = try RunningProcess(
                RepositoryPaths.program("posthorn-agent"),
                environment: scene.user.environment.merging(["DBUS_SESSION_BUS_ADDRESS": bus.address]) { $1 })
            try await bus.waitForOwner(of: "org.posthorn.Agent1", evidence: { agent.transcript })
            let listed = try await RunningProcess.run(
                RepositoryPaths.program("posthorn"), ["inbox", "list", "--json"],
                environment: scene.user.environment.merging(["DBUS_SESSION_BUS_ADDRESS": bus.address]) { $1 }
            ).succeeded().output
            #expect(listed.contains(body) && !listed.contains("closed") && !listed.contains("viewed"), "\(listed)")
            #expect(scene.opened.isEmpty)
        }
    }
}
