// SPDX-License-Identifier: Apache-2.0

internal import TestSupport
internal import Testing

extension PanelScene {
    /// The payload of an alert.
    static func alert(_ body: String) -> String { #"{"aps":{"alert":{"title":"Alert","body":"\#(body)"}}}"# }

    /// Waits until an alert is on the screen, and does something until it is answered.
    ///
    /// - Parameters:
    ///   - body: The alert's.
    ///   - state: What the entry becomes.
    ///   - action: What the person does.
    /// - Throws: `DeadlinePassed`, what the action throws.
    func answer(_ body: String, becoming state: String, _ action: () async throws -> Void) async throws {
        try await wait("'\(body)' is on the screen") { $0.texts.contains(body) }
        try await eventually("'\(body)' is \(state)", evidence: { self.user.agent.now.transcript }) {
            // The next alert is not meant.
            if try await contents().texts.contains(body) {
                try await rest()
                try await action()
            }
            return try await user.inbox().first { $0.body == body }?.state == state
        }
    }

    /// Keeps the hands still, as a person does who looks at an alert: what comes without a pause is not taken.
    func rest() async throws { try await Task.sleep(for: .milliseconds(750)) }

    /// Waits until the panel has no window.
    func waitUntilEmpty() async throws { try await wait("the window is gone") { $0.nodes.isEmpty } }
}
