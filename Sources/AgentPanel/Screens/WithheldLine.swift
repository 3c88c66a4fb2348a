// SPDX-License-Identifier: Apache-2.0

/// Why what comes is not shown, in a line above the list that leads to where it is switched.
final class WithheldLine {
    let widget: Widget
    private let text = Widget.label("")
    private var shown: WithheldText?

    /// Is not to be seen until something is told; `onPressed` gets what is told then.
    init(onPressed: @escaping (WithheldText) -> Void) {
        let line = Widget.row(spacing: 10, text.expanding(across: true), .symbol("go-next-symbolic"))
        var pressed: () -> Void = {}
        widget = Widget.button(around: line, named: "") { pressed() }.styled("flat", "withheld")
        widget.isVisible = false
        pressed = { [weak self] in
            if let shown = self?.shown { onPressed(shown) }
        }
    }

    /// Says it; nil takes the line away.
    func show(_ withheld: WithheldText?) {
        guard withheld != shown else { return }
        shown = withheld
        widget.isVisible = withheld != nil
        guard let withheld else { return }
        text.setText(withheld.text)
        widget.named(withheld.text)
    }
}
