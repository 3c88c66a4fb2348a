// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceScreenEndToEnd {
    /// Checks the effects of Close and View, clicked with a pointer on real notification daemons.
    struct ViewTests {
        /// A notification daemon and the places of its buttons, from screenshots: Close stands left of View.
        struct Buttons: Sendable {
            let server: DesktopScreen.Server
            let closeFromRight: Int
            let viewFromRight: Int
            let fromBottom: Int
        }

        static let daemons = [
            Buttons(server: .notificationDaemon, closeFromRight: 134, viewFromRight: 79, fromBottom: 39),
            Buttons(server: .xfce, closeFromRight: 149, viewFromRight: 57, fromBottom: 31),
        ]

        private let payload = #"{"aps":{"alert":{"title":"Lunch","body":"At noon"}},"mail":{"id":42}}"#

        @Test(.tags(.slow), arguments: daemons)
        func `View opens the app once with its payload, and Close does not`(buttons: Buttons) async throws {
            let desk = try await DesktopSession()
            try await desk.screen.keepRunning(buttons.server)
            try await desk.show(payload)
            try await desk.click("viewed", fromRight: buttons.viewFromRight, fromBottom: buttons.fromBottom)
            try await eventually("the app is opened") { desk.opened.count == 1 }
            let opened = try JSONDecoder().decode(Opened.self, from: Data(desk.opened[0].utf8))
            #expect(opened.app == DesktopSession.app && opened.topic == DesktopSession.app)
            #expect(opened.title == "Lunch" && opened.body == "At noon")
            #expect(opened.payload.mail.id == 42)

            try await desk.show(payload)
            try await desk.click("closed", fromRight: buttons.closeFromRight, fromBottom: buttons.fromBottom)
            // An app that Close had opened would have started before the app that View opens next.
            try await desk.show(payload)
            try await desk.click("viewed", fromRight: buttons.viewFromRight, fromBottom: buttons.fromBottom)
            try await eventually("the app is opened again") { desk.opened.count >= 2 }
            #expect(desk.opened.count == 2)
        }

        @Test(.tags(.slow)) func `View starts an app that the bus activates, with its payload`() async throws {
            let desk = try await DesktopSession()
            let user = desk.stack.user
            let log = user.files.path(of: "mail.log")
            let install = "\(RepositoryPaths.root)/examples/mail/install.sh"
            try await RunningProcess.run("/bin/sh", [install], environment: user.environment).succeeded()
            let program = "\(user.files.path)/data/example-mail/example-mail"
            try await desk.screen.bus.addService(
                DesktopSession.app,
                command: "/usr/bin/env EXAMPLE_MAIL_LOG=\(log) GSK_RENDERER=cairo \(program) --gapplication-service")
            try await desk.screen.keepRunning(.notificationDaemon)
            try await desk.show(payload)
            let buttons = Self.daemons[0]
            try await desk.click("viewed", fromRight: buttons.viewFromRight, fromBottom: buttons.fromBottom)
            try await eventually("the app writes down what it was handed", evidence: { desk.transcript }) {
                readText(log).hasSuffix("\n")
            }
            let lines = readText(log).split(separator: "\n")
            #expect(lines.count == 1)
            #expect(try JSONDecoder().decode(Opened.self, from: Data(lines[0].utf8)).payload.mail.id == 42)
            #expect(desk.opened.isEmpty, "the app's Exec line is for desktops without activation")
        }

        @Test func `inbox open opens the app once with its payload, as View does`() async throws {
            let desk = try await DesktopSession()
            try await desk.screen.keepRunning(.notificationDaemon)
            try await desk.show(payload)
            let user = desk.stack.user
            let entry = try #require(try await user.inbox().first)
            try await user.posthorn("inbox", "open", "\(entry.entry)")
            try await eventually("the app is opened") { desk.opened.count == 1 }
            #expect(try JSONDecoder().decode(Opened.self, from: Data(desk.opened[0].utf8)).payload.mail.id == 42)
            #expect(try await user.inbox().first?.state == "viewed")
        }

        @Test func `an app that cannot be opened leaves a reason in the inbox`() async throws {
            let desk = try await DesktopSession()
            try await desk.screen.keepRunning(.notificationDaemon)
            let user = desk.stack.user
            try user.files.write(
                "[Desktop Entry]\nType=Application\nName=Example Mail\nExec=/nonexistent/program\n",
                to: "data/applications/\(DesktopSession.app).desktop")
            try await desk.show(payload)
            let buttons = Self.daemons[0]
            try await desk.click("viewed", fromRight: buttons.viewFromRight, fromBottom: buttons.fromBottom)
            try await user.waitForEntry("the reason is there") { $0.reason.contains("/nonexistent/program") }
        }

        @Test func `inbox show names the link, and inbox open opens it where no app is installed`() async throws {
            let desk = try await DesktopSession()
            try await desk.screen.keepRunning(.notificationDaemon)
            let user = desk.stack.user
            try FileManager.default.removeItem(
                atPath: user.files.path(of: "data/applications/\(DesktopSession.app).desktop"))
            let link = "https://example.org/lunch?a=1&b=$(id)"
            try await desk.show(#"{"aps":{"alert":{"title":"Lunch","body":"At noon"}},"url":"\#(link)"}"#)
            let entry = try #require(try await user.inbox().first)
            let shown = try await user.posthorn("inbox", "show", "\(entry.entry)")
            #expect(shown.output.contains("Opens     \(link)"))
            try await user.posthorn("inbox", "open", "\(entry.entry)")
            try await eventually("the browser has the link") { desk.openedLinks == [link] }
            #expect(try await user.inbox().first?.state == "viewed")
        }

        /// The part of an app's input that tests check.
        private struct Opened: Decodable {
            let app: String
            let topic: String
            let title: String
            let body: String
            let payload: Payload

            struct Payload: Decodable {
                let mail: Mail
            }

            struct Mail: Decodable {
                let id: Int
            }

            enum CodingKeys: String, CodingKey {
                case topic, title, body, payload
                case app = "app_id"
            }
        }
    }
}
