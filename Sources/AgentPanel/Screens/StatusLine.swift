// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// A line above the list with a condition that the user should know; a click opens the place where it can be changed.
final class StatusLine {
    let widget: Button
    private let text = Label("")
    private let action = Label("", .cut(lines: 1)).styled("line-action")
    private let arrow = Symbol("go-next-symbolic")

    /// Creates a hidden line.
    ///
    /// - Parameters:
    ///   - icon: The name of the icon before the text; nil for none.
    ///   - pressed: Called after each click.
    init(icon: String? = nil, pressed: @escaping () -> Void) {
        let line = Box.row(spacing: 10)
        if let icon { line.append(Symbol(icon)) }
        for part in [text.expanding(across: true), action, arrow] { line.append(part) }
        widget = Button(around: line, named: "", pressed).styled("flat", "status-line")
        widget.isVisible = false
    }

    /// Shows a text; nil hides the line.
    ///
    /// - Parameters:
    ///   - message: The condition.
    ///   - remedy: The effect of a click, in place of an arrow; nil if the click only opens a page.
    func show(_ message: String?, remedy: String? = nil) {
        widget.isVisible = message != nil
        guard let message else { return }
        text.setText(message)
        action.setText(remedy ?? "")
        action.isVisible = remedy != nil
        arrow.isVisible = remedy == nil
        widget.named([message, remedy].compactMap { $0 }.joined(separator: tr(", ")))
    }
}
