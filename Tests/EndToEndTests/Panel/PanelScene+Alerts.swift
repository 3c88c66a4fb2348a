// SPDX-License-Identifier: Apache-2.0

internal import TestSupport
internal import Testing

extension PanelScene {
    /// Returns the payload of an alert.
    static func alert(_ body: String) -> String { #"{"aps":{"alert":{"title":"Alert","body":"\#(body)"}}}"# }

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
