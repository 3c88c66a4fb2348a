// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

extension PanelScene {
    /// Doubles the text size of programs that start later.
    func doubleText() async throws {
        try await RunningProcess.run(
            RepositoryPaths.tool("xprop"),
            ["-root", "-f", "RESOURCE_MANAGER", "8s", "-set", "RESOURCE_MANAGER", "Xft.dpi:\t192"],
            environment: screen.environment
        ).succeeded()
    }

    /// Takes a picture of the whole screen.
    func picture() async throws -> ScreenPicture {
        let file = screen.files.path(of: "screen-\(UUID().uuidString).rgb")
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await RunningProcess.run(
            RepositoryPaths.tool("convert"), ["x:root", "-depth", "8", "rgb:\(file)"], environment: screen.environment
        ).succeeded()
        return ScreenPicture(size: screen.size, bytes: Array(try Data(contentsOf: URL(fileURLWithPath: file))))
    }

    /// Takes a picture once nothing moves.
    func steadyPicture() async throws -> ScreenPicture {
        var last: ScreenPicture?
        return try await eventualValue("nothing moves") {
            let next = try await picture()
            defer { last = next }
            return next == last ? next : nil
        }
    }

    /// Turns the animations of programs off that start later.
    func forbidMotion() async throws {
        try user.files.makeDirectory("config/gtk-4.0")
        try user.files.write(
            """
            [Settings]
            gtk-enable-animations=false

            """, to: "config/gtk-4.0/settings.ini")
    }

    /// Leaves the server and opens the pairing form, with the focus in the server's entry.
    func openPairing() async throws {
        try await user.posthorn("agent", "unenrol")
        try await openPanel("--settings")
        try await click("button", "Pair With a Server")
        try await waitFor("dialog", "Pair With a Server")
        try await wait("the address can be typed") { $0.all("text box").first?.isFocused == true }
    }

    /// Returns the place of an element on the screen.
    func area(of element: ScreenElement, in contents: ScreenContents) async throws -> ScreenPicture.Area? {
        guard let window = contents.window(of: element) else { return nil }
        return .init(element, windowAt: try await origin(of: window))
    }
}

/// The pixels of a screen.
struct ScreenPicture: Sendable, Equatable {
    let size: DesktopScreen.Size
    /// Three bytes for each pixel: red, green and blue.
    fileprivate let bytes: [UInt8]

    /// A part of the screen, in pixels from its upper left corner.
    struct Area: Sendable {
        var left, top, width, height: Int

        init(left: Int, top: Int, width: Int, height: Int) {
            self.left = left
            self.top = top
            self.width = width
            self.height = height
        }

        /// Creates the place of an element whose window's content begins at a position.
        init(_ element: ScreenElement, windowAt origin: DesktopScreen.Place) {
            self.init(
                left: origin.x + element.left, top: origin.y + element.top, width: element.width,
                height: element.height)
        }

        /// Returns the part without a margin at each side.
        func inset(by margin: Int) -> Area {
            Area(left: left + margin, top: top + margin, width: width - 2 * margin, height: height - 2 * margin)
        }
    }

    /// A color of a pixel.
    struct Color: Hashable, Sendable {
        let red, green, blue: UInt8

        /// The relative luminance, as WCAG 2.1 defines it.
        var luminance: Double {
            let parts = [red, green, blue].map { part in
                let value = Double(part) / 255
                return value <= 0.03928 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
        }

        /// Returns the contrast ratio to another color, from 1 to 21, as WCAG 2.1 defines it.
        func contrast(to other: Color) -> Double {
            let (one, two) = (luminance, other.luminance)
            return (max(one, two) + 0.05) / (min(one, two) + 0.05)
        }
    }

    /// The colors of a text and of its background.
    struct Ink: Sendable {
        let text, background: Color
        var contrast: Double { text.contrast(to: background) }
    }

    func color(x: Int, y: Int) -> Color {
        let start = (y * size.width + x) * 3
        return Color(red: bytes[start], green: bytes[start + 1], blue: bytes[start + 2])
    }

    /// Returns the rows of a part of the screen, cut at the screen's edges.
    func rows(of area: Area) -> [[Color]] {
        let columns = max(area.left, 0)..<max(min(area.left + area.width, size.width), max(area.left, 0))
        let lines = max(area.top, 0)..<max(min(area.top + area.height, size.height), max(area.top, 0))
        return lines.map { y in columns.map { x in color(x: x, y: y) } }
    }

    /// Returns the colors of a text: the most frequent color is its background, and the text has the most contrast.
    ///
    /// Thin strokes are only partly in the text's own color, so large text is more exact.
    func ink(of area: Area) -> Ink? {
        let counts = counts(of: area)
        guard let background = counts.max(by: { $0.value < $1.value })?.key,
            let text = counts.keys.max(by: { $0.contrast(to: background) < $1.contrast(to: background) })
        else { return nil }
        return Ink(text: text, background: background)
    }

    /// Returns how many pixels have each color.
    private func counts(of area: Area) -> [Color: Int] {
        var counts: [Color: Int] = [:]
        for row in rows(of: area) {
            // Most pixels have the color of their neighbor.
            var start = row.startIndex
            while start < row.endIndex {
                let end = row[start...].firstIndex { $0 != row[start] } ?? row.endIndex
                counts[row[start], default: 0] += end - start
                start = end
            }
        }
        return counts
    }

    /// Returns the columns that a text covers, from the left edge of its frame; nil if the part has one color only.
    func inkColumns(of area: Area) -> ClosedRange<Int>? {
        guard let background = ink(of: area)?.background else { return nil }
        let columns = rows(of: area).flatMap { row in
            row.indices.filter { row[$0].contrast(to: background) > 1.5 }
        }
        guard let first = columns.min(), let last = columns.max() else { return nil }
        return first...last
    }
}
