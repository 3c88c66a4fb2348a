// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension EndToEnd {
    /// The panel's window, used with a pointer and read off the screen.
    struct PanelTests {
        /// Where things are in the window, which has no window manager around it; read off a screenshot.
        private let settingsTab = DesktopScreen.Place(x: 259, y: 26)
        private let masterSwitch = DesktopScreen.Place(x: 367, y: 136)

        @Test(.tags(.slow)) func `a switch in the panel reaches the agent at once`() async throws {
            let desk = try await Desk()
            let user = desk.house.user
            let panel = try RunningProcess(
                RepositoryPaths.program("posthorn-panel"),
                environment: user.environment.merging(["GSK_RENDERER": "cairo"]) { $1 })
            try await eventually("the window is there", evidence: { panel.transcript }) {
                try await desk.screen.xdotool("search", "--onlyvisible", "--name", "Posthorn").exit == .code(0)
            }
            try await eventually("the master switch is off", evidence: { panel.transcript }) {
                let settings = try await user.posthorn("settings", "list", "--json").output
                if settings.contains(#""name":"master","value":"off""#) { return true }
                try await desk.screen.click(settingsTab)
                try await desk.screen.click(masterSwitch)
                return false
            }
            try await panel.killNow()
        }

        @Test(.tags(.slow)) func `the end of the connection shows in the panel by itself`() async throws {
            let desk = try await Desk()
            let panel = try RunningProcess(
                RepositoryPaths.program("posthorn-panel"),
                environment: desk.house.user.environment.merging(["GSK_RENDERER": "cairo"]) { $1 })
            let (page, first) = ("420x300+0+60", Still())
            try await eventually("the settings stand still", evidence: { panel.transcript }) {
                try await desk.screen.click(settingsTab)
                try await desk.screen.xdotool("mousemove", "700", "500").succeeded()
                return first.isRepeated(try await picture(of: page, "%# %k", on: desk.screen))
            }
            try await desk.house.server.process.killNow()
            try await eventually("they have changed", evidence: { panel.transcript }) {
                try await picture(of: page, "%# %k", on: desk.screen) != first.picture
            }
            try await panel.killNow()
        }

        /// A picture that was the same ten times in a row, and is more than an empty window.
        private final class Still {
            private(set) var picture = ""
            private var count = 0

            func isRepeated(_ next: String) -> Bool {
                count = next == picture ? count + 1 : 0
                picture = next
                return count == 10 && Int(next.split(separator: " ").last ?? "") ?? 0 > 10
            }
        }

        @Test(.tags(.slow)) func `without an agent both pages say so`() async throws {
            let screen = try await DesktopScreen()
            let panel = try RunningProcess(
                RepositoryPaths.program("posthorn-panel"),
                environment: screen.environment.merging(["GSK_RENDERER": "cairo"]) { $1 })
            let (header, page) = ("420x50+0+0", "420x300+0+60")
            try await eventually("the first page has something on it", evidence: { panel.transcript }) {
                Int(try await picture(of: page, "%k", on: screen)) ?? 0 > 10
            }
            let first = try await picture(of: page, "%#", on: screen)
            let tabs = try await picture(of: header, "%#", on: screen)
            try await eventually("the other tab is chosen", evidence: { panel.transcript }) {
                try await screen.click(settingsTab)
                // A pointer that rests on the tab changes its look too.
                try await screen.xdotool("mousemove", "700", "500").succeeded()
                return try await picture(of: header, "%#", on: screen) != tabs
            }
            try await eventually("the other page says the same", evidence: { panel.transcript }) {
                // One picture could still be of the first page, which fades.
                for _ in 1...10 where try await picture(of: page, "%#", on: screen) != first { return false }
                return true
            }
            try await panel.killNow()
        }

        /// What ImageMagick says of a part of the screen: `%k` how many colours it has, `%#` what tells it from others.
        private func picture(of part: String, _ format: String, on screen: DesktopScreen) async throws -> String {
            try await RunningProcess.run(
                RepositoryPaths.tool("import"), ["-window", "root", "-crop", part, "-format", format, "info:"],
                environment: screen.environment
            ).succeeded().output
        }

        @Test func `the desktop entry is one by the judgement of desktop-file-validate`() async throws {
            let entry = "\(RepositoryPaths.root)/deploy/applications/org.posthorn.Panel.desktop"
            try await RunningProcess.run(RepositoryPaths.tool("desktop-file-validate"), [entry]).succeeded()
        }
    }
}
