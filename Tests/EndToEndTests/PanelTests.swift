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
                if try await user.posthorn("settings", "list", "--json").output.contains(#""master":false"#) {
                    return true
                }
                try await desk.screen.click(settingsTab)
                try await desk.screen.click(masterSwitch)
                return false
            }
            try await panel.killNow()
        }
    }
}
