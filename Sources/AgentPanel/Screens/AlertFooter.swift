// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// The line below an alert's buttons: the alert's position among those that wait, a button that puts the alert off, and
/// one that closes all alerts.
final class AlertFooter {
    let widget: Box
    /// The position in words; empty for an alert that waits alone.
    private(set) var text = ""
    private let label = Label("", .cut(lines: 1)).styled("caption", "dim-label")
    let closeAll: Button
    private var position: AlertQueue.Position?

    /// Creates the line of an alert that waits alone.
    init(onLater: @escaping () -> Void, onCloseAll: @escaping () -> Void) {
        closeAll = Button(tr("Close All"), onCloseAll).styled("flat", "text-button")
        let later = Button(tr("Remind Me…"), onLater).styled("flat", "text-button")
        widget = Box.row(spacing: 8, later, label.expanding(across: true).centered(), closeAll).padded(above: 4)
        closeAll.isVisible = false
        label.setRead(false)
    }

    /// Shows a position; returns whether it changed.
    @discardableResult
    func show(_ position: AlertQueue.Position) -> Bool {
        guard position != self.position else { return false }
        self.position = position
        let isAlone = position.count == 1
        text = isAlone ? "" : Texts.fill(tr("%1 of %2"), "\(position.number)", "\(position.count)")
        label.setText(text)
        label.setRead(!isAlone)
        closeAll.isVisible = position.number < position.count
        return true
    }
}
