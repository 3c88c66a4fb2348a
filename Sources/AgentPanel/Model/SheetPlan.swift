// SPDX-License-Identifier: Apache-2.0

/// The buttons of an action sheet, from top to bottom: what destroys something first, Cancel last.
///
/// It has no text of its own: the labels and what the person just did say what it is about.
package struct SheetPlan: Equatable, Sendable {
    /// What a button means; nothing else tells buttons apart.
    package enum Role: Equatable, Sendable {
        /// Destroys something; red.
        case destroy
        /// The choice of this number.
        case choose(Int)
        /// Does nothing.
        case cancel
    }

    /// One button.
    package struct Button: Equatable, Sendable {
        /// What is on it.
        package var title: String
        /// What it means.
        package var role: Role
    }

    /// From top to bottom; the last one is Cancel.
    package var buttons: [Button]

    /// Orders the buttons.
    ///
    /// - Parameters:
    ///   - destroy: What is lost, as `Clear 12 Notifications`; nil for nothing.
    ///   - choices: What else can be done.
    package init(destroy: String?, choices: [String] = []) {
        let cancel = tr("Cancel")
        let titles = [destroy].compactMap { $0 } + choices
        precondition(!titles.isEmpty, "a sheet has something to choose beside Cancel")
        precondition(Set(titles + [cancel]).count == titles.count + 1, "no two buttons of a sheet are called the same")
        buttons =
            [destroy].compactMap { $0 }.map { Button(title: $0, role: .destroy) }
            + choices.enumerated().map { Button(title: $0.element, role: .choose($0.offset)) }
            + [Button(title: cancel, role: .cancel)]
    }
}
