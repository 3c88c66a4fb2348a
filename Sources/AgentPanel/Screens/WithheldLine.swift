// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// A line above the list that says why notifications are withheld, and opens the setting that causes it.
final class WithheldLine {
    let widget: Button
    private let text = Label("")
    private var shown: WithheldText?

    /// Creates a hidden line; `onPressed` gets the current reason.
    init(onPressed: @escaping (WithheldText) -> Void) {
        let line = Box.row(spacing: 10, text.expanding(across: true), Symbol("go-next-symbolic"))
        var pressed: () -> Void = {}
        widget = Button(around: line, named: "") { pressed() }.styled("flat", "withheld")
        widget.isVisible = false
        pressed = { [weak self] in
            if let shown = self?.shown { onPressed(shown) }
        }
    }

    /// Shows the reason; nil hides the line.
    func show(_ withheld: WithheldText?) {
        guard withheld != shown else { return }
        shown = withheld
        widget.isVisible = withheld != nil
        guard let withheld else { return }
        text.setText(withheld.text)
        widget.named(withheld.text)
    }
}
