// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// A line above the tabs with a problem and its remedy.
///
/// It stays until the user dismisses it or changes the tab, or until the problem is over.
final class Notice {
    let widget: Revealer
    private let text = Label("")
    private let details = Label("").selectable().styled("dim-label", "caption")
    private let detailsButton = Button(tr("Details"))
    private let action = Bin()
    /// Whether the message is about a condition that ends without the user.
    private var isPassing = false

    init() {
        let texts = Box.column(spacing: 4, text, details).aligned(down: .center).expanding(across: true)
        let line = Box.row(spacing: 10, Symbol("dialog-warning-symbolic"), texts, detailsButton.styled("flat"), action)
        widget = Revealer(line.styled("notice"), from: .below)
        widget.isVisible = false
        let close = Button(icon: "window-close-symbolic", named: tr("Dismiss")) { [weak self] in self?.hide() }
        line.append(close.styled("flat"))
        detailsButton.styled("touch").onPressed { [weak self] in
            self?.detailsButton.isVisible = false
            self?.details.isVisible = true
        }
    }

    /// Shows a message.
    ///
    /// - Parameters:
    ///   - message: The problem and its remedy.
    ///   - details: The original text of the error, for the administrator, which a button reveals; empty for none.
    ///   - isPassing: Whether the problem may end without an action of the user.
    ///   - help: The label and the action of a button that solves the problem; nil for none.
    func show(
        _ message: String, details: String = "", isPassing: Bool = false,
        _ help: (title: String, body: () -> Void)? = nil
    ) {
        self.isPassing = isPassing
        text.setText(message)
        self.details.setText(details)
        self.details.isVisible = false
        detailsButton.isVisible = !details.isEmpty
        action.setContent(help.map { help in Button(help.title, help.body).styled("touch") })
        widget.isVisible = true
        widget.isRevealed = true
    }

    /// Hides a message about a condition that has ended.
    func pass() {
        if isPassing { hide() }
    }

    /// Hides an error message when the user leaves the tab on which it occurred.
    func leave() {
        if !isPassing { hide() }
    }

    private func hide() {
        widget.isRevealed = false
        widget.isVisible = false
    }
}
