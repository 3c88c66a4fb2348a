// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// The line below an alert's buttons: the alert's position among those that wait, and a button that closes them all.
final class AlertFooter {
    let widget: Box
    /// The position in words; empty for an alert that waits alone.
    private(set) var text = ""
    private let label = Label("", .cut(lines: 1)).styled("caption", "dim-label")
    let closeAll: Button
    private var position: AlertQueue.Position?

    /// Creates a hidden line.
    init(onCloseAll: @escaping () -> Void) {
        closeAll = Button(tr("Close All"), onCloseAll).styled("flat", "text-button")
        widget = Box.row(spacing: 8, label.expanding(across: true), closeAll).padded(above: 4)
        widget.isVisible = false
    }

    /// Shows a position; returns whether it changed.
    @discardableResult
    func show(_ position: AlertQueue.Position) -> Bool {
        guard position != self.position else { return false }
        self.position = position
        let isAlone = position.count == 1
        text = isAlone ? "" : Texts.fill(tr("%1 of %2"), "\(position.number)", "\(position.count)")
        label.setText(text)
        widget.isVisible = !isAlone
        closeAll.isVisible = position.number < position.count
        return true
    }
}
