// SPDX-License-Identifier: Apache-2.0

internal import TestSupport
internal import Testing

extension PanelWindowEndToEnd {
    /// Checks alerts on two monitors side by side.
    struct PanelMonitorTests {
        /// The widths of the monitors, whose centers, and the center of both, are away from the border between them.
        private static let widths = (left: 420, right: 580)
        private static let height = 600

        @Test(.tags(.slow)) func `an alert is in the middle of the monitor with the pointer, not across two monitors`()
            async throws
        {
            let (widths, height) = (Self.widths, Self.height)
            let scene = try await PanelScene(size: .init(width: widths.left + widths.right, height: height))
            try await divide(scene.screen)
            try await scene.useAlerts()
            let (onLeft, onRight) = ((0, widths.left), (widths.left, widths.right))
            for (name, (left, width)) in [("Right", onRight), ("Left", onLeft), ("Right again", onRight)] {
                try await scene.screen.xdotool("mousemove", "\(left + width / 2)", "\(height - 20)").succeeded()
                try await scene.send(PanelScene.alert("\(name)."))
                let contents = try await scene.wait("'\(name)' is on the screen") { $0.texts.contains("\(name).") }
                let window = try #require(contents.windows.first)
                var frame = try await scene.frame(of: window)
                try await eventually("it is in the middle of its monitor", evidence: { "\(frame)" }) {
                    frame = try await scene.frame(of: window)
                    return abs(2 * (frame.left - left) + frame.width - width) <= 2
                        && abs(2 * frame.top + frame.height - height) <= 2
                }
                #expect(frame.left >= left && frame.left + frame.width <= left + width, "\(frame) is on one monitor")
                try await scene.answer("\(name).", becoming: "closed") { try await scene.press("Escape") }
            }
        }

        /// Divides one screen into two monitors, as users divide a wide one.
        private func divide(_ screen: DesktopScreen) async throws {
            let (widths, height) = (Self.widths, Self.height)
            let monitors = [
                ("Left", "\(widths.left)/111x\(height)/159+0+0", "screen"),
                ("Right", "\(widths.right)/153x\(height)/159+\(widths.left)+0", "none"),
            ]
            for (name, place, output) in monitors {
                try await RunningProcess.run(
                    RepositoryPaths.tool("xrandr"), ["--setmonitor", name, place, output],
                    environment: screen.environment
                ).succeeded()
            }
        }
    }
}
