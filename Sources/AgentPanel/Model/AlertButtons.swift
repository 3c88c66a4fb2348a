// SPDX-License-Identifier: Apache-2.0

internal import AgentBus

/// The buttons of an alert and their layout.
///
/// Two buttons are side by side: the dark Close at the left, the light one at the right. Three or more are stacked,
/// with Close at the bottom. None of them destroys anything.
struct AlertButtons: Equatable, Sendable {
    /// The meaning of a button, which alone distinguishes it from the others.
    enum Role: Equatable, Sendable {
        /// Closes the alert without opening anything.
        case close
        case view
        /// Runs an action of the app, which opens no window.
        case action(String)
        /// Lets the user enter a text first.
        case write(String)
    }

    struct Button: Equatable, Sendable {
        var title: String
        var role: Role
        var isDark: Bool
    }

    /// The buttons, from left to right or from top to bottom.
    var buttons: [Button]
    /// Whether the buttons are stacked.
    var isColumn: Bool
    /// The index of the button that Return presses: View if there is one, else the one that closes.
    ///
    /// An app's own action is never the default, because its effect is unknown.
    var defaultIndex: Int

    /// The maximum number of an app's own buttons; manifests have no more.
    static let actionCountMax = 4

    /// Chooses the buttons of an alert.
    init(_ alert: AlertRecord) {
        let close = Button(title: tr("Close"), role: .close, isDark: true)
        // A button without a label would be meaningless, so it is left out.
        let choices = alert.actions.map { Self.button(for: $0) }.filter { !$0.title.isEmpty }
        if !choices.isEmpty {
            self.init(choices: Array(choices.prefix(Self.actionCountMax)), close: close)
        } else if alert.viewLabel.isEmpty {
            self.init(choices: [Button(title: tr("OK"), role: .close, isDark: false)], close: nil)
        } else {
            // "View" is the agent's default label, which is translated here. An app translates its own label.
            let title = alert.viewLabel == "View" ? "" : VisibleText.label(alert.viewLabel)
            self.init(
                choices: [Button(title: title.isEmpty ? tr("View") : title, role: .view, isDark: false)], close: close)
        }
    }

    /// Chooses the buttons for the time while the user enters a text for an action.
    init(writing action: AlertActionRecord) {
        self.init(
            choices: [Button(title: VisibleText.label(action.title), role: .action(action.id), isDark: false)],
            close: Button(title: tr("Close"), role: .close, isDark: true))
        // Return sends the text.
        defaultIndex = 1
    }

    private init(choices: [Button], close: Button?) {
        isColumn = choices.count > 1
        let closes = [close].compactMap { $0 }
        buttons = isColumn ? choices + closes : closes + choices
        defaultIndex = (buttons.firstIndex { $0.role == .view } ?? buttons.firstIndex { $0.role == .close }) ?? 0
    }

    /// Returns the layout as rows of indices into `buttons`, from top to bottom.
    ///
    /// - Parameter isLow: Whether the screen is too low for one button per row. Then rows have two buttons, and Close
    ///   is at the left of the last row.
    /// - Returns: The rows.
    func rows(isLow: Bool) -> [[Int]] {
        guard isColumn else { return [Array(buttons.indices)] }
        guard isLow else { return buttons.indices.map { [$0] } }
        let (close, choices) = (buttons.count - 1, Array(buttons.indices.dropLast()))
        let pairs = stride(from: 0, to: choices.count - choices.count % 2, by: 2).map {
            [choices[$0], choices[$0 + 1]]
        }
        return pairs + [choices.count % 2 == 0 ? [close] : [close, choices[choices.count - 1]]]
    }

    private static func button(for action: AlertActionRecord) -> Button {
        let role: Role = action.takesText ? .write(action.id) : .action(action.id)
        return Button(title: VisibleText.label(action.title), role: role, isDark: false)
    }
}
