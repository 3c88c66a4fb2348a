// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// A user at a desktop: screen, notification daemon, sound server, agent, two registered apps, and a server behind it.
///
/// Alerts, badges and sounds are observed from outside: the test monitors the message bus and the sound server.
final class DesktopSession: Sendable {
    /// The app that tests send to.
    ///
    /// Notifications to a second app mark the end of its effects.
    static let app = TestStack.app
    private static let markerApp = "org.example.Marker"

    let screen: DesktopScreen
    let sound: DesktopSound
    let stack: TestStack
    private let browser: TemporaryDirectory
    private let markerToken: String
    private let alerts: RunningProcess
    private let badges: RunningProcess

    /// Starts everything but a notification daemon.
    init() async throws {
        screen = try await DesktopScreen()
        sound = try await DesktopSound()
        alerts = try await screen.bus.monitor("interface='org.freedesktop.Notifications',member='Notify'")
        badges = try await screen.bus.monitor("type='signal',interface='com.canonical.Unity.LauncherEntry'")
        browser = try TemporaryDirectory()
        try browser.write(
            "#!/bin/sh\nprintf '%s\\n' \"$@\" >>'\(browser.path(of: "links"))'\n", to: "xdg-open", permissions: 0o700)
        let searchPath = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let environment = screen.environment.merging(sound.environment) { $1 }
            .merging(["PATH": "\(browser.path):\(searchPath)"]) { $1 }
        stack = try await TestStack(bus: screen.bus, environment: environment) { user in
            for app in [Self.app, Self.markerApp] { try Self.install(app, for: user) }
        }
        try await stack.server.posthorn("app", "add", Self.markerApp)
        markerToken = try await stack.user.register(Self.markerApp)
    }

    /// The effects that reached the user since a moment.
    struct Reached: Equatable {
        /// The number of alerts shown.
        var alertCount = 0
        /// The numbers shown on the app's icon.
        var badges: [Int] = []
        /// The number of sounds played.
        var soundCount = 0
    }

    /// Sends a payload to the app, and returns the effects that reached the user.
    ///
    /// Two markers follow the payload. All effects of the payload arrive before the second marker.
    ///
    /// - Parameters:
    ///   - payload: The payload.
    ///   - expected: The effects to wait for.
    /// - Returns: The effects that arrived, which may be more.
    /// - Throws: `DeadlinePassed` when less arrived.
    func send(_ payload: String, expecting expected: Reached) async throws -> Reached {
        let before = state
        let sent = try await stack.provider.send(SentNotification(token: stack.token, payload: payload))
        guard sent.status == 200 else { throw RefusedMarker(result: sent) }
        for round in 1...2 {
            let text = "marker \(UUID().uuidString)"
            try await sendMarker(text)
            try await eventually("marker \(round) and \(expected) reach the person", evidence: { self.transcript }) {
                let now = state
                return alerts.output.contains(text) && now.markerBadgeCount >= before.markerBadgeCount + round
                    && now.soundCount >= before.soundCount + expected.soundCount + round
            }
        }
        let after = state
        return Reached(
            alertCount: after.alertCount - before.alertCount - 2, badges: Array(after.badges[before.badges.count...]),
            soundCount: after.soundCount - before.soundCount - 2)
    }

    /// Sends a payload while the master switch is off, and returns the effects that reached the user.
    ///
    /// All effects of the payload arrive before the next entry in the inbox.
    ///
    /// - Parameter payload: The payload.
    /// - Returns: The effects that reached the user.
    /// - Throws: `DeadlinePassed`; `RefusedMarker` when the server refuses a notification.
    func sendWhileSilent(_ payload: String) async throws -> Reached {
        let before = state
        let sent = try await stack.provider.send(SentNotification(token: stack.token, payload: payload))
        guard sent.status == 200 else { throw RefusedMarker(result: sent) }
        _ = try await stack.bodiesUpToMarker()
        let after = state
        return Reached(
            alertCount: after.alertCount - before.alertCount, badges: Array(after.badges[before.badges.count...]),
            soundCount: after.soundCount - before.soundCount)
    }

    /// Sends a payload and waits until its alert is the one on the screen.
    func show(_ payload: String) async throws {
        try await eventually("the screen is empty") { try await screen.alertFrames().isEmpty }
        let sent = try await stack.provider.send(SentNotification(token: stack.token, payload: payload))
        guard sent.status == 200 else { throw RefusedMarker(result: sent) }
        try await eventually("the alert is on the screen", evidence: { self.transcript }) {
            guard try await screen.alertFrames().count == 1 else { return false }
            return try await stack.user.inbox(limit: 1).first?.state == "shown"
        }
    }

    /// Clicks on the alert until the newest entry has a state.
    ///
    /// A window that has just appeared may miss the first click.
    ///
    /// - Parameters:
    ///   - state: The expected state.
    ///   - fromRight: The distance from the right edge in pixels.
    ///   - fromBottom: The distance from the lower edge in pixels.
    /// - Throws: `DeadlinePassed`.
    func click(_ state: String, fromRight: Int, fromBottom: Int) async throws {
        try await eventually("the alert is \(state)", evidence: { self.transcript }) {
            if let frame = try await screen.alertFrames().first {
                try await screen.click(frame.place(fromRight: fromRight, fromBottom: fromBottom))
            }
            return try await stack.user.inbox(limit: 1).first?.state == state
        }
    }

    /// The calls to the notification daemon, one text for each alert.
    var alertTexts: [Substring] { Array(alerts.output.split(separator: "member=Notify").dropFirst()) }

    /// The output of all observers, for a failure's text.
    var transcript: String {
        [stack.user.agent.now, alerts, badges, sound.server].map(\.transcript).joined(separator: "\n")
    }

    private struct State {
        let alertCount: Int
        let badges: [Int]
        let markerBadgeCount: Int
        let soundCount: Int
    }

    private var state: State {
        let updates = badges.output.split(separator: "member=Update").dropFirst()
        func numbers(_ app: String) -> [Int] {
            updates.filter { $0.contains("application://\(app).desktop") }.map { update in
                let isVisible = update.contains(/"count-visible"\s+variant\s+boolean true/)
                let count = update.firstMatch(of: /"count"\s+variant\s+int64 ([0-9]+)/).flatMap { Int($0.1) } ?? 0
                return isVisible ? count : 0
            }
        }
        return State(
            alertCount: alerts.output.matches(of: /member=Notify/).count, badges: numbers(Self.app),
            markerBadgeCount: numbers(Self.markerApp).count,
            soundCount: sound.playedCount)
    }

    private func sendMarker(_ text: String) async throws {
        let badge = state.markerBadgeCount + 1
        let payload = #"{"aps":{"alert":"\#(text)","badge":\#(badge),"sound":"default"}}"#
        var marker = SentNotification(token: markerToken, payload: payload, topic: Self.markerApp)
        // Each marker replaces the one before it. Without that, the agent would sum up many in a short time.
        marker.collapseID = "marker"
        let sent = try await stack.provider.send(marker)
        guard sent.status == 200 else { throw RefusedMarker(result: sent) }
    }

    /// Installs an app that records the notifications with which it is opened.
    private static func install(_ app: String, for user: DeviceUser) throws {
        try user.files.makeDirectory("data/applications")
        let program = try user.files.write(
            """
            #!/bin/sh
            printf '%s\\n' "$POSTHORN_NOTIFICATION" >>'\(user.files.path(of: "\(app).opened"))'

            """, to: "\(app).sh", permissions: 0o700)
        try user.files.write(
            """
            [Desktop Entry]
            Type=Application
            Name=Example \(app.split(separator: ".").last ?? "")
            Exec=\(program)
            Icon=mail-unread

            """, to: "data/applications/\(app).desktop", permissions: 0o644)
    }

    /// The links with which the desktop's browser was opened.
    var openedLinks: [String] { browser.read("links").split(separator: "\n").map(String.init) }

    /// The notifications with which the app was opened, one line each.
    var opened: [Substring] { stack.user.files.read("\(Self.app).opened").split(separator: "\n") }
}
