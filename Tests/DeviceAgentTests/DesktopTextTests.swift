// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushCore
import TestSupport
import Testing

/// Checks how texts of payloads are displayed by real notification servers.
@Suite(.tags(.slow))
struct DesktopTextTests {
    private static let order = Alert(
        entry: 1, appID: "org.posthorn.Test", appName: "Orders", title: "New order", subtitle: "Table 4",
        body: "Two coffees", viewLabel: "Serve")

    /// The fields of an alert that hold text, as setters.
    private static let fields: [@Sendable (inout Alert, String) -> Void] = [
        { $0.appName = $1 }, { $0.title = $1 }, { $0.subtitle = $1 }, { $0.body = $1 }, { $0.viewLabel = $1 },
    ]

    /// A screen with a server, whose pictures are compared by their signature.
    private struct Gallery {
        let screen: DesktopScreen
        let session: DesktopSession
        let presenter: DesktopPresenter

        init(_ server: DesktopScreen.Server) async throws {
            screen = try await DesktopScreen()
            try await screen.keepRunning(server)
            session = try DesktopSession(screen.bus)
            presenter = try session.presenter()
        }

        /// Shows an alert in place of the previous one, and returns its picture once it is painted.
        func show(_ alert: Alert, after earlier: String) async throws -> String {
            #expect(try await session.present(alert, with: presenter) == .shown(playsSound: false))
            var last = earlier
            try await session.run(until: "it is painted") {
                let picture = try await screen.picture()
                defer { last = picture }
                return picture != earlier && picture == last
            }
            return last
        }
    }

    @Test(arguments: DesktopScreen.Server.allCases)
    func `control characters are not displayed`(server: DesktopScreen.Server) async throws {
        let gallery = try await Gallery(server)
        var last = try await gallery.screen.picture()
        for set in Self.fields {
            var (hostile, harmless, other) = (Self.order, Self.order, Self.order)
            set(&hostile, "a\u{202E}b\u{1B}[0mc\u{7}\u{1}d\u{2066}e\u{9B}f")
            set(&harmless, "ab[0mcdef")
            other.appName = "Other"
            let hostilePicture = try await gallery.show(hostile, after: last)
            last = try await gallery.show(other, after: hostilePicture)
            last = try await gallery.show(harmless, after: last)
            #expect(last == hostilePicture)
            last = try await gallery.show(other, after: last)
        }
    }

    @Test(arguments: DesktopScreen.Server.allCases)
    func `markup and references are shown as they were sent`(server: DesktopScreen.Server) async throws {
        let gallery = try await Gallery(server)
        var last = try await gallery.screen.picture()
        for set in Self.fields.dropLast() {
            var pictures: [String] = []
            for text in ["<i>a</i> &amp; b", "a & b", "&lt;i&gt;a&lt;/i&gt; &amp;amp; b", "<a href=\"x\">a</a> & b"] {
                var alert = Self.order
                set(&alert, text)
                last = try await gallery.show(alert, after: last)
                pictures.append(last)
            }
            #expect(Set(pictures).count == pictures.count)
        }
    }
}
