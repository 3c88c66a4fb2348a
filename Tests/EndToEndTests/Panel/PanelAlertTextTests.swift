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

        @Test(.tags(.slow), arguments: [(360, 640), (480, 320), (800, 700)])
        func `a name that an app gave itself is marked with the app's ID`(width: Int, height: Int) async throws {
            let scene = try await PanelScene(size: .init(width: width, height: height))
            let token = try await scene.registerItself("org.example.Bank", name: "Your Bank")
            try await scene.send(PanelScene.alert("Sign in."), to: token, of: "org.example.Bank")
            let contents = try await scene.wait("the alert is there") { $0.first("button", "OK")?.isFocused == true }
            let mark = try #require(contents.first("label", "unverified: org.example.Bank"), "\(contents.transcript)")
            let (window, name) = (
                try #require(contents.windows.first), try #require(contents.first("label", "Your Bank"))
            )
            #expect(mark.top >= name.bottom && mark.left >= 0 && mark.right <= window.width, "\(contents.transcript)")
            #expect(window.description == "unverified: org.example.Bank\nAlert\nSign in.")
            #expect(contents.first("button", "OK")?.description.contains("unverified: org.example.Bank") == true)
            #expect(contents.fits(scene.screen.size), "\(contents.transcript)")
        }

        @Test(.tags(.slow)) func `text of twice the size cuts no label of a series of alerts`() async throws {
            let scene = try await PanelScene(size: .init(width: 360, height: 640))
            try await scene.doubleText()
            let app = "org.example.Bank"
            let token = try await scene.registerItself(app, name: "Your Bank of the City and Its Friends")
            for body in ["One.", "Two."] { try await scene.send(PanelScene.alert(body), to: token, of: app) }
            let contents = try await scene.wait("both wait") { $0.texts.contains("1 of 2") }
            #expect(contents.fits(scene.screen.size), "\(contents.transcript)")
            let name = try #require(contents.first("label", "Your Bank of the City and Its Friends"))
            let title = try #require(contents.first("label", "Alert"))
            #expect(name.height > title.height, "the name has two lines: \(contents.transcript)")
            let later = try #require(contents.first("button", "Remind Me…"))
            let (position, closeAll) = (
                try #require(contents.first("label", "1 of 2")), try #require(contents.first("button", "Close All"))
            )
            #expect(later.bottom <= closeAll.top && position.right <= closeAll.left, "\(contents.transcript)")
            #expect(later.height == closeAll.height && closeAll.width > 100, "\(contents.transcript)")
        }

        @Test(.tags(.slow)) func `a long text uses the space beside an app's own buttons`() async throws {
            let scene = try await PanelScene(size: .init(width: 1280, height: 800))
            try await scene.useAlerts()
            let long = (1...80).map { "Sentence \($0) of many." }.joined(separator: " ")
            try await scene.send(#"{"aps":{"alert":{"title":"Long","body":"\#(long)"},"category":"MAIL"}}"#)
            let contents = try await scene.wait("it is on the screen") { $0.first("button", "Archive") != nil }
            let window = try #require(contents.windows.first)
            #expect((800 * 57 / 100...800 * 6 / 10).contains(window.height), "\(contents.transcript)")
        }

        @Test(.tags(.slow), arguments: [(300, 900), (800, 500)])
        func `a picture leaves space for the text, and has no empty bands`(width: Int, height: Int) async throws {
            let files = try TemporaryDirectory()
            let file = files.path(of: "photo.png")
            try await RunningProcess.run(
                RepositoryPaths.tool("convert"), ["-size", "\(width)x\(height)", "xc:#11aa33", file], environment: [:]
            ).succeeded()
            let scene = try await PanelScene { user in
                let own = user.files.path(of: "photo.png")
                try FileManager.default.copyItem(atPath: file, toPath: own)
                let payload = #"{"aps":{"alert":{"title":"Photo","body":"Below it."}},"attachment-path":"\#(own)"}"#
                let filter = try user.files.write(
                    "#!/bin/sh\ncat >/dev/null\necho '\(payload)'\n", to: "filter.sh", permissions: 0o700)
                try user.files.write(
                    #"{"filter":["\#(filter)"]}"#, to: "data/posthorn/apps/\(PanelScene.app).json", permissions: 0o644)
            }
            try await scene.useAlerts()
            try await scene.send(#"{"aps":{"alert":"Photo","mutable-content":1}}"#)
            let contents = try await scene.wait("the picture is there") { contents in
                contents.nodes.contains { $0.name == "Picture" && !contents.inside($0).nodes.isEmpty }
            }
            let place = try #require(contents.nodes.first { $0.name == "Picture" })
            let picture = try #require(contents.inside(place).nodes.first)
            #expect(abs(place.height - picture.height) <= 1, "no band above or below: \(contents.transcript)")
            #expect(abs(picture.width * height - picture.height * width) <= 2 * max(width, height))
            #expect((40...140).contains(picture.height), "a third of 60 % of 700 at most: \(picture)")
            let (body, close) = (
                try #require(contents.first("label", "Below it.")), try #require(contents.first("button", "Close"))
            )
            #expect(contents.all("scroll bar").isEmpty && body.top >= place.bottom && body.bottom <= close.top)
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
