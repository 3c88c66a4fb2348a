// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension PanelScene {
    /// Returns the payload of an alert.
    static func alert(_ body: String) -> String { #"{"aps":{"alert":{"title":"Alert","body":"\#(body)"}}}"# }

    /// Lets a program that is not installed register itself on the bus, as an app with alerts.
    ///
    /// - Parameters:
    ///   - app: The app ID.
    ///   - name: The name that the program gives itself.
    /// - Returns: The device token.
    /// - Throws: The error of one of the programs.
    func registerItself(_ app: String, name: String) async throws -> String {
        try await stack.server.posthorn("app", "add", app)
        let script = """
            import sys
            from gi.repository import Gio, GLib
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            def call(name, path, method, *values):
                return bus.call_sync(name, path, name, method, GLib.Variant(*values), None, 0, 30_000, None).unpack()[0]
            call("org.freedesktop.DBus", "/org/freedesktop/DBus", "RequestName", "(su)", (sys.argv[1], 0))
            options = {"name": GLib.Variant("s", sys.argv[2])}
            print(call("org.posthorn.Agent1", "/org/posthorn/Agent1", "Register", "(sa{sv})", (sys.argv[1], options)))
            """
        let output = try await RunningProcess.run(
            RepositoryPaths.tool("python3"), ["-c", script, app, name], environment: user.environment
        ).succeeded().output
        try await user.posthorn("settings", "set", app, "alert", "alert")
        return output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Sends an alert to another app than the scene's.
    func send(_ payload: String, to token: String, of app: String) async throws {
        let sent = try await stack.provider.send(SentNotification(token: token, payload: payload, topic: app))
        guard sent.status == 200 else { throw RefusedMarker(result: sent) }
    }

    /// Waits until an alert is on the screen, and repeats an action until it is answered.
    ///
    /// - Parameters:
    ///   - body: The alert's body.
    ///   - state: The expected state of the entry.
    ///   - action: The user's action.
    /// - Throws: `DeadlinePassed`, or the action's error.
    func answer(_ body: String, becoming state: String, _ action: () async throws -> Void) async throws {
        try await wait("'\(body)' is on the screen") { $0.texts.contains(body) }
        try await eventually("'\(body)' is \(state)", evidence: { self.user.agent.now.transcript }) {
            // The action must not answer the next alert.
            if try await contents().texts.contains(body) {
                try await rest()
                try await action()
            }
            return try await user.inbox().first { $0.body == body }?.state == state
        }
    }

    /// Waits without input, as a user does who reads an alert: the panel ignores input without such a pause.
    func rest() async throws { try await Task.sleep(for: .milliseconds(750)) }

    /// Waits until the panel has no window.
    func waitUntilEmpty() async throws { try await wait("the window is gone") { $0.nodes.isEmpty } }
}

extension ScreenContents {
    /// The buttons of an alert, without those of its last line: to put it off, and to close all alerts.
    var answers: [ScreenElement] {
        all("button").filter { !["Remind Me…", "Erinnern …", "提醒我…", "Close All"].contains($0.name) }
    }
}
