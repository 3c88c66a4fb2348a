// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelWindowEndToEnd {
    /// Checks that alerts are shown whatever an app's icon contains.
    struct PanelIconTests {
        /// A limit far below the memory that each hostile icon would use, and far above the panel's own.
        private static let residentKilobytesMax = 400_000

        /// None of these icons is shown, and the log has the reason.
        @Test(
            .tags(.slow),
            arguments: [
                ["queue", "endless", "folder", "unreadable"],
                ["missing", "no-picture.png", "huge.png", "many.svg", "slow.svg"],
            ])
        func `an invalid icon delays no alert`(icons: [String]) async throws {
            let scene = try await PanelScene { try Self.makeIcons(for: $0) }
            try await scene.useAlerts()
            let panel = try await scene.openPanel()
            for icon in icons {
                try await showAlert(icon, in: scene)
                try await eventually("the log says why", evidence: { panel.transcript }) {
                    panel.transcript.contains("event=icon_refused file=\(scene.user.files.path(of: icon)) reason=")
                }
                try await answer(icon, in: scene)
                try isModest(panel)
            }
        }

        @Test(.tags(.slow)) func `pictures and drawings are shown, and large drawings only at the size of an icon`()
            async throws
        {
            let scene = try await PanelScene { try Self.makeIcons(for: $0) }
            try await scene.useAlerts()
            let panel = try await scene.openPanel()
            for (icon, colour) in [("good.png", "#ff00ff"), ("good.svg", "#00ff7f"), ("wide.svg", "#0000fe")] {
                try await showAlert(icon, in: scene)
                try await eventually("\(icon) is on the screen", evidence: { panel.transcript }) {
                    // The required number of pixels is most of 48 by 48, or of half of that.
                    try await scene.screen.pointCount(ofColour: colour) > 1000
                }
                try await answer(icon, in: scene)
            }
            try await showAlert("blurred.svg", in: scene)
            try await answer("blurred.svg", in: scene)
            try isModest(panel)
            #expect(!panel.transcript.contains("icon_refused"))
        }

        @Test(.tags(.slow), .limitsMemory)
        func `the icon reader has little memory and refuses icons that need more`() async throws {
            let files = try TemporaryDirectory()
            let path = try files.write(Self.manyUses, to: "many.svg")
            let answer = try await Self.readIcons(path, "/dev/zero")
            let lines = answer.output.split(separator: "\n").filter { !$0.hasPrefix("stamp ") }
            #expect(lines.first == "ready" && lines.last == "refused not a regular file", "\(answer)")
            #expect(lines.count == 3 && lines[1].hasPrefix("refused "), "\(answer)")
        }

        private static func readIcons(_ paths: String...) async throws -> ProgramResult {
            try await RunningProcess.run(
                RepositoryPaths.program("posthorn-panel"), ["--read-icons"],
                input: paths.map { "48 - \($0.utf8.count)\n\($0)" }.joined(), within: .seconds(60))
        }

        // MARK: An app with an icon

        /// Gives the app an icon, and sends an alert.
        private func showAlert(_ icon: String, in scene: PanelScene) async throws {
            let files = scene.user.files
            let path = "data/applications/\(PanelScene.app).desktop"
            let lines = files.read(path).split(separator: "\n").filter { !$0.hasPrefix("Icon=") }
            let text = lines.joined(separator: "\n") + "\nIcon=\(files.path(of: icon))\n"
            try files.write(text, to: path, permissions: 0o644)
            _ = try await scene.user.register(PanelScene.app)
            try await scene.send(PanelScene.alert("Icon \(icon)."))
            try await scene.wait("the alert is there") { contents in
                contents.texts.contains("Icon \(icon).") && contents.first("button", "Close") != nil
                    && contents.first("button", "View") != nil
            }
        }

        private func answer(_ icon: String, in scene: PanelScene) async throws {
            try await scene.answer("Icon \(icon).", becoming: "closed") { try await scene.press("Escape") }
        }

        private func isModest(_ panel: RunningProcess) throws {
            let status = try String(contentsOfFile: "/proc/\(panel.identifier)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
            #expect(try #require(Int(line.filter(\.isNumber))) < Self.residentKilobytesMax)
        }

        // MARK: The icons

        private static func makeIcons(for user: DeviceUser) throws {
            let isQueueMade = unsafe mkfifo(user.files.path(of: "queue"), 0o600) == 0
            #expect(isQueueMade)
            try FileManager.default.createSymbolicLink(
                atPath: user.files.path(of: "endless"), withDestinationPath: "/dev/zero")
            try user.files.makeDirectory("folder")
            try user.files.write("nothing", to: "unreadable", permissions: 0)
            try user.files.write("no picture", to: "no-picture.png")
            try user.files.write(manyUses, to: "many.svg")
            try user.files.write(slow, to: "slow.svg")
            try user.files.write(drawing(width: 64, height: 64, "#00ff7f"), to: "good.svg")
            try user.files.write(drawing(width: 40_000, height: 20_000, "#0000fe"), to: "wide.svg")
            try user.files.write(blurred, to: "blurred.svg")
            for (name, text) in [("good.png", picture), ("huge.png", hugePicture)] {
                let bytes = try #require(Data(base64Encoded: text))
                try bytes.write(to: URL(filePath: user.files.path(of: name)))
            }
        }

        private static func drawing(width: Int, height: Int, _ colour: String, _ more: String = "") -> String {
            """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)">\(more)\
            <rect width="\(width)" height="\(height)" fill="\(colour)" filter="url(#f)"/></svg>
            """.replacing(more.isEmpty ? #" filter="url(#f)""# : "\n", with: "")
        }

        /// A drawing that needs gigabytes at its own size.
        private static let blurred = drawing(
            width: 30_000, height: 30_000, "#000000",
            #"<filter id="f"><feGaussianBlur stdDeviation="900"/></filter>"#)

        /// A drawing of 100,000,000,000 rectangles in a few lines.
        private static let manyUses: String = {
            let groups = (1...11).map { level in
                "<g id='g\(level)'>" + String(repeating: "<use href='#g\(level - 1)'/>", count: 10) + "</g>"
            }
            return "<svg xmlns='http://www.w3.org/2000/svg' width='64' height='64'><defs><g id='g0'>"
                + "<rect width='9' height='9'/></g>\(groups.joined())</defs><use href='#g11'/></svg>"
        }()

        /// A drawing with half a minute of work for each pixel.
        private static let slow = drawing(
            width: 64, height: 64, "#000000", #"<filter id="f"><feTurbulence numOctaves="100000000"/></filter>"#)

        /// A picture of 64 by 64 pixels in one color.
        private static let picture =
            "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAdklEQVR4nO3PQQkAMAzAwPo33Yno4xgEIuAyO/t1wwUNaEEDWtCAFjSgBQ1o"
            + "QQNa0IAWNKAFDWhBA1rQgBY0oAUNaEEDWtCAFjSgBQ1oQQNa0IAWNKAFDWhBA1rQgBY0oAUNaEEDWtCAFjSgBQ1oQQNa0IAWHHtBp+HS"
            + "thEAJgAAAABJRU5ErkJggg=="

        /// The start of a picture whose header declares 20,000 by 20,000 pixels.
        private static let hugePicture =
            "iVBORw0KGgoAAAANSUhEUgAATiAAAE4gCAIAAABsEtFuABHMI0lEQVR42uzBAQEAAACAkP6v7ggKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            + "AAAAAAAAAAAAAAAA"
    }
}
