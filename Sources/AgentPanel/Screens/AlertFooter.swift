// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// The line below an alert's buttons: the alert's position among those that wait, a button that puts the alert off, and
/// one that closes all alerts.
///
/// If the three do not fit in one line, the button that puts the alert off has a line of its own.
final class AlertFooter {
    let widget: Box
    /// The position in words; empty for an alert that waits alone.
    private(set) var text = ""
    private let label = Label("", .cut(lines: 1)).centered().padded(across: 8).styled("caption", "dim-label")
    private let later: Button
    private let closeAll: Button
    private let upperLine = Bin()
    private let line: CenterBox
    private var position: AlertQueue.Position?
    private var shownPlan: Plan?

    /// Creates the line of an alert that waits alone.
    init(onLater: @escaping () -> Void, onCloseAll: @escaping () -> Void) {
        later = Button(tr("Remind Me…"), onLater).styled("flat", "text-button")
        closeAll = Button(tr("Close All"), onCloseAll).styled("flat", "text-button")
        line = CenterBox(end: closeAll)
        widget = Box.column(upperLine, line).padded(above: 4)
        for part: Widget in [label, closeAll] { part.isVisible = false }
    }

    /// Shows a position; returns whether it changed.
    @discardableResult
    func show(_ position: AlertQueue.Position) -> Bool {
        guard position != self.position else { return false }
        self.position = position
        let isAlone = position.count == 1
        text = isAlone ? "" : Texts.fill(tr("%1 of %2"), "\(position.number)", "\(position.count)")
        label.setText(text)
        label.isVisible = !isAlone
        closeAll.isVisible = position.number < position.count
        return true
    }

    /// Chooses one line or two for a width in pixels.
    func fit(width: Int) {
        // The position is in the center, so both ends have the width of the longer button.
        let ends = [later, closeAll].map(\.naturalWidth)
        let needed = label.isVisible ? label.naturalWidth + 2 * (ends.max() ?? 0) : ends.reduce(0, +)
        let plan = Plan(isOneLine: needed <= width, isCentered: needed <= width || !closeAll.isVisible)
        guard plan != shownPlan else { return }
        shownPlan = plan
        upperLine.setContent(nil)
        line.set(start: nil, center: nil)
        upperLine.isVisible = !plan.isOneLine
        if !plan.isOneLine { upperLine.setContent(later) }
        line.set(
            start: plan.isOneLine ? later : plan.isCentered ? nil : label, center: plan.isCentered ? label : nil)
    }

    /// The places of the parts.
    private struct Plan: Equatable {
        var isOneLine: Bool
        /// Whether the position is in the center of its line.
        var isCentered: Bool
    }
}
