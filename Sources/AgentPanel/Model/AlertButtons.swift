// SPDX-License-Identifier: Apache-2.0

/// Which buttons an alert has, and where.
///
/// Two stand side by side: Close at the left and dark, the other at the right and light. More than two choices stand one
/// below the other, Close at the bottom. None of them destroys anything.
package struct AlertButtons: Equatable, Sendable {
    /// What pressing a button means; nothing else tells buttons apart.
    package enum Role: Equatable, Sendable {
        /// Takes the alert away and opens nothing.
        case close
        /// Opens the app.
        case view
        /// Tells the app, which opens nothing.
        case action(String)
        /// Lets the person type first.
        case write(String)
    }

    /// One button.
    package struct Button: Equatable, Sendable {
        /// What is on it.
        package var title: String
        /// What it means.
        package var role: Role
        /// Whether it is a dark one.
        package var isDark: Bool
    }

    /// From left to right, or from top to bottom.
    package var buttons: [Button]
    /// Whether they stand one below the other.
    package var isColumn: Bool
    /// Which one Return presses: View, else what closes.
    ///
    /// What an app's own action does only the app knows.
    package var defaultIndex: Int

    /// The most buttons of an app's own; manifests have no more.
    static let actionCountMax = 4

    /// The buttons of an alert.
    package init(_ alert: AlertFacts) {
        let close = Button(title: tr("Close"), role: .close, isDark: true)
        // Nobody knows what a button without a word does.
        let choices = alert.actions.map { Self.button(for: $0) }.filter { !$0.title.isEmpty }
        if !choices.isEmpty {
            self.init(choices: Array(choices.prefix(Self.actionCountMax)), close: close)
        } else if alert.viewLabel.isEmpty {
            self.init(choices: [Button(title: tr("OK"), role: .close, isDark: false)], close: nil)
        } else {
            // The agent's own word for it; what an app calls it is the app's to translate.
            let title = alert.viewLabel == "View" ? "" : VisibleText.label(alert.viewLabel)
            self.init(
                choices: [Button(title: title.isEmpty ? tr("View") : title, role: .view, isDark: false)], close: close)
        }
    }

    /// The buttons while the person types for an action.
    package init(writing action: AlertFacts.Action) {
        self.init(
            choices: [Button(title: VisibleText.label(action.title), role: .action(action.id), isDark: false)],
            close: Button(title: tr("Close"), role: .close, isDark: true))
        // It sends what the person has typed.
        defaultIndex = 1
    }

    private init(choices: [Button], close: Button?) {
        isColumn = choices.count > 1
        let closes = [close].compactMap { $0 }
        buttons = isColumn ? choices + closes : closes + choices
        defaultIndex = (buttons.firstIndex { $0.role == .view } ?? buttons.firstIndex { $0.role == .close }) ?? 0
    }

    /// Which buttons stand side by side, by their places in `buttons`, from top to bottom.
    ///
    /// - Parameter isLow: Whether the screen is too low for many below each other: then two are side by side, and Close
    ///   is at the left of the last ones.
    /// - Returns: Rows of places.
    package func rows(isLow: Bool) -> [[Int]] {
        guard isColumn else { return [Array(buttons.indices)] }
        guard isLow else { return buttons.indices.map { [$0] } }
        let (close, choices) = (buttons.count - 1, Array(buttons.indices.dropLast()))
        let pairs = stride(from: 0, to: choices.count - choices.count % 2, by: 2).map {
            [choices[$0], choices[$0 + 1]]
        }
        return pairs + [choices.count % 2 == 0 ? [close] : [close, choices[choices.count - 1]]]
    }

    private static func button(for action: AlertFacts.Action) -> Button {
        let role: Role = action.takesText ? .write(action.id) : .action(action.id)
        return Button(title: VisibleText.label(action.title), role: role, isDark: false)
    }
}
