// SPDX-License-Identifier: Apache-2.0

/// What went wrong and what to do, in a line above the tabs; it stays until it is dismissed or over, or another tab is shown.
final class Notice {
    let widget: Widget
    private let text = Widget.label("")
    private let action = Widget.bin()
    /// Whether it is about something that ends by itself.
    private var isPassing = false

    init() {
        let line = Widget.row(
            spacing: 10, Widget.symbol("dialog-warning-symbolic"), text.expanding(across: true), action)
        widget = .revealer(line.styled("notice"), from: .below)
        widget.isVisible = false
        let close = Widget.iconButton("window-close-symbolic", named: tr("Dismiss")) { [weak self] in self?.hide() }
        line.append(close.styled("flat"))
    }

    /// Shows a text, with a button that helps if there is one.
    func show(_ message: String, isPassing: Bool = false, _ help: (title: String, body: () -> Void)? = nil) {
        self.isPassing = isPassing
        text.setText(message)
        action.setContent(help.map { help in Widget.button(help.title, help.body).styled("touch") })
        widget.isVisible = true
        widget.isRevealed = true
    }

    /// What passes is over.
    func pass() {
        if isPassing { hide() }
    }

    /// What went wrong did so on the tab that is left.
    func leave() {
        if !isPassing { hide() }
    }

    private func hide() {
        widget.isRevealed = false
        widget.isVisible = false
    }
}
