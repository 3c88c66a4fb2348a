// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelAlertEndToEnd {
    /// Checks how alerts show long texts and texts with invisible characters.
    struct PanelAlertTextTests {
        @Test(.tags(.slow), arguments: [(360, 640), (800, 600), (1280, 800)])
        func `a very long alert takes at most 60 % of the screen's height, and shows that it scrolls`(
            width: Int, height: Int
        ) async throws {
            let scene = try await PanelScene(size: .init(width: width, height: height))
            try await scene.useAlerts()
            let long = (1...80).map { "Sentence \($0) of many." }.joined(separator: " ")
            try await scene.send(title: "Long", body: long)
            let contents = try await scene.wait("it is on the screen") { $0.first("button", "View") != nil }
            let window = try #require(contents.windows.first)
            #expect(window.height <= height * 6 / 10, "\(contents.transcript)")
            #expect(window.height >= height * 4 / 10, "it uses the space")
            let view = try #require(contents.first("button", "View"))
            #expect(view.bottom <= window.height)
            let bar = try #require(contents.first("scroll bar") { _ in true })
            let area = try #require(try await scene.area(of: bar, in: contents))
            let ink = try #require(try await scene.steadyPicture().ink(of: area))
            #expect(ink.contrast > 1.2, "the scroll bar is drawn: \(ink)")
        }

        @Test(.tags(.slow)) func `a short text is centered, and the lines of a long one begin at the same place`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            try await scene.send(title: "Lunch", body: "At noon.")
            let short = try await columns(of: "At noon.", in: scene)
            #expect(abs(short.columns.lowerBound - (short.width - 1 - short.columns.upperBound)) <= 4, "\(short)")
            #expect(short.columns.lowerBound > 40)
            try await scene.answer("At noon.", becoming: "closed") { try await scene.press("Escape") }

            // Each paragraph is short, so centered lines would leave space at the start.
            let long = ["One.", "Two.", "Three.", "Four.", "Five."]
            try await scene.send(title: "Long", body: long.joined(separator: "\\n"))
            let lines = try await columns(of: long.joined(separator: "\n"), in: scene)
            #expect(lines.columns.lowerBound <= 4, "\(lines)")
        }

        /// Returns the columns that a label's text covers, and the label's width.
        private func columns(of text: String, in scene: PanelScene) async throws -> (
            columns: ClosedRange<Int>, width: Int
        ) {
            try await scene.wait("it is on the screen") { $0.first("label", text) != nil }
            let picture = try await scene.steadyPicture()
            let contents = try await scene.contents()
            let label = try #require(contents.first("label", text))
            let area = try #require(try await scene.area(of: label, in: contents))
            return (try #require(picture.inkColumns(of: area)), label.width)
        }

        @Test(.tags(.slow)) func `names and texts of an alert have no control and no zero-width characters`()
            async throws
        {
            let scene = try await PanelScene()
            try await scene.useAlerts()
            let title = #"esc \u001b[31mred \u0007\u200bbell"#
            try await scene.send(title: title, body: #"Zero\u200b\ufeff\u2060width\u0085\u009b31m"#)
            let contents = try await scene.wait("it is on the screen") { $0.first("button", "View") != nil }
            #expect(contents.texts.contains("esc [31mred bell"), "\(contents.transcript)")
            #expect(contents.texts.contains("Zerowidth31m"), "\(contents.transcript)")
            for element in contents.nodes {
                for scalar in (element.name + element.description).unicodeScalars where scalar != "\n" {
                    let category = scalar.properties.generalCategory
                    #expect(category != .control && category != .format, "\(scalar.debugDescription) in \(element)")
                }
            }
        }
    }
}
