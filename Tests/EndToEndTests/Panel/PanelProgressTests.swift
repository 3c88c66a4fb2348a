// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelSettingsEndToEnd {
    /// Checks the spinners: when they appear, that they turn, and that they disappear.
    struct PanelProgressTests {
        /// The place of the list's spinner, above its text.
        private func spinner(in scene: PanelScene) async throws -> ScreenPicture.Area? {
            let contents = try await scene.contents()
            guard let text = contents.first("label", "Loading…"),
                let area = try await scene.area(of: text, in: contents)
            else { return nil }
            return .init(left: area.left, top: area.top - 40, width: area.width, height: 36)
        }

        /// Opens the panel while the agent does not answer.
        private func openWaiting(_ scene: PanelScene) async throws -> ScreenPicture.Area {
            try await scene.user.agent.now.freeze()
            try await scene.openPanel()
            return try await eventualValue("the list is loading") { try await spinner(in: scene) }
        }

        @Test(.tags(.slow)) func `a spinner turns while the list waits for the agent, and ends with the answer`()
            async throws
        {
            let scene = try await PanelScene()
            let clock = ContinuousClock()
            let start = clock.now
            let area = try await openWaiting(scene)
            var first: [[ScreenPicture.Color]] = []
            try await eventually("the spinner is there") {
                first = try await scene.picture().rows(of: area)
                return Set(first.joined()).count > 1
            }
            #expect(clock.now - start >= .seconds(1), "a short activity has no spinner")
            for turn in 1...3 {
                try await eventually("it turns: \(turn)") {
                    let next = try await scene.picture().rows(of: area)
                    defer { first = next }
                    return next != first
                }
            }
            scene.user.agent.now.send(SIGCONT)
            try await scene.wait("the list is there") {
                !$0.texts.contains("Loading…") && $0.texts.contains("No Notifications")
            }
        }

        @Test(.tags(.slow)) func `without animations no spinner stands still on the screen`() async throws {
            let scene = try await PanelScene()
            try await scene.forbidMotion()
            let area = try await openWaiting(scene)
            // Longer than the delay of the spinner.
            for _ in 1...10 {
                try await Task.sleep(for: .milliseconds(250))
                #expect(Set(try await scene.picture().rows(of: area).joined()).count == 1, "there is only background")
            }
            #expect(try await scene.contents().texts.contains("Loading…"), "the text says it instead")
            scene.user.agent.now.send(SIGCONT)
        }

        @Test(.tags(.slow)) func `a spinner turns while a server does not answer a pairing, and ends with the result`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.openPairing()
            // The system accepts connections for the program, which never reads from them.
            let server = try RunningProcess(
                RepositoryPaths.tool("python3"),
                [
                    "-c",
                    "import socket; s = socket.create_server(('127.0.0.1', 0)); "
                        + "print(s.getsockname()[1], flush=True); import time; time.sleep(600)",
                ])
            try await scene.type("https://127.0.0.1:\(try await server.outputLine())")
            try await scene.press("Return")
            let text = "Connecting to the server…"
            let contents = try await scene.wait("it says so") { $0.texts.contains(text) }
            #expect(contents.first("button", "Pair")?.isSensitive == false)
            let label = try #require(contents.first("label", text))
            var area = try #require(try await scene.area(of: label, in: contents))
            (area.left, area.width) = (area.left - 24, 22)
            var last = try await scene.picture().rows(of: area)
            for turn in 1...3 {
                try await eventually("it turns: \(turn)") {
                    let next = try await scene.picture().rows(of: area)
                    defer { last = next }
                    return next != last
                }
            }
            try await server.killNow()
            let failed = try await scene.wait("it says what is wrong") { contents in
                contents.texts.contains { $0.hasPrefix("The server cannot be reached.") }
            }
            #expect(!failed.texts.contains(text), "neither text nor spinner is left")
            #expect(failed.first("button", "Pair")?.isSensitive == true)
        }
    }
}
