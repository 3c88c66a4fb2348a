// SPDX-License-Identifier: Apache-2.0

/// The buttons of an action sheet, from top to bottom: the destructive one first, Cancel last.
///
/// The sheet has no text: the labels and the user's last action explain it.
struct SheetPlan: Equatable, Sendable {
    /// The meaning of a button, which alone distinguishes it from the others.
    enum Role: Equatable, Sendable {
        /// A destructive choice, shown in red.
        case destroy
        /// The choice with this index.
        case choose(Int)
        case cancel
    }

    struct Button: Equatable, Sendable {
        var title: String
        var role: Role
    }

    /// The buttons, from top to bottom; the last one is Cancel.
    var buttons: [Button]

    /// Creates the buttons.
    ///
    /// - Parameters:
    ///   - destroy: The label of the destructive button, for example `Clear 12 Notifications`; nil for none.
    ///   - choices: The labels of the other choices.
    init(destroy: String?, choices: [String] = []) {
        let cancel = tr("Cancel")
        let titles = [destroy].compactMap { $0 } + choices
        precondition(!titles.isEmpty, "a sheet has at least one choice besides Cancel")
        precondition(Set(titles + [cancel]).count == titles.count + 1, "the buttons of a sheet have different labels")
        buttons =
            [destroy].compactMap { $0 }.map { Button(title: $0, role: .destroy) }
            + choices.enumerated().map { Button(title: $0.element, role: .choose($0.offset)) }
            + [Button(title: cancel, role: .cancel)]
    }
}
