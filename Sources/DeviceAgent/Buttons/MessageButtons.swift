// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushCore

/// The buttons that a notification brings with it, for an app that declares none for the notification's category.
enum MessageButtons {
    /// The ID of the button that has the effect of View.
    static let viewID = "message.view"
    private static let prefix = "message."

    /// Returns the buttons in order: View, if there is something to view, then those of the notification.
    ///
    /// - Parameters:
    ///   - payload: The payload that is shown.
    ///   - hasView: Whether the app or a link can be opened.
    /// - Returns: The buttons; empty if the notification has none.
    static func actions(of payload: Payload, hasView: Bool) -> [AppManifest.Action] {
        guard !payload.buttons.isEmpty else { return [] }
        var actions: [AppManifest.Action] = []
        if hasView, let label = payload.actionLabel {
            actions.append(.init(id: viewID, title: label, isForeground: true))
        }
        for (place, button) in payload.buttons.enumerated() {
            actions.append(.init(id: "\(prefix)\(place)", title: button.title))
        }
        return actions
    }

    /// Returns the button with an ID.
    static func button(_ id: String, of payload: Payload) -> Payload.Button? {
        guard id.hasPrefix(prefix), let place = Int(id.dropFirst(prefix.count)), payload.buttons.indices.contains(place)
        else { return nil }
        return payload.buttons[place]
    }
}
