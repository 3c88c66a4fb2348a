// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// A row that shows a value at the right and opens the page where it is chosen.
final class ValueRow {
    let widget: ActionRow
    private let value = Label("", .cut(lines: 1)).styled("dim-label")
    private let arrow = Symbol("go-next-symbolic").styled("dim-label")
    private let lock = LockMark()
    private let isBelow: Bool

    /// Creates a row.
    ///
    /// - Parameters:
    ///   - title: The name of the value.
    ///   - isBelow: Whether the value is shown below the title, because it is too long for the right side.
    ///   - pressed: Opens the page; nil for a read-only value.
    init(_ title: String, isBelow: Bool = false, pressed: (() -> Void)? = nil) {
        self.isBelow = isBelow
        widget = ActionRow(title)
        widget.addSuffix(lock.widget)
        if !isBelow { widget.addSuffix(value) }
        guard let pressed else { return }
        widget.addSuffix(arrow)
        widget.onActivated(pressed)
    }

    func show(_ text: String, subtitle: String = "", isLocked: Bool = false) {
        value.setText(text)
        lock.show(isLocked)
        widget.setSubtitle(isLocked ? LockMark.text : isBelow ? text : subtitle)
        widget.setActivatable(!isLocked)
        arrow.isVisible = !isLocked
        widget.described(text)
    }
}

/// A row with a checkmark if it is chosen.
final class CheckRow {
    let widget: ActionRow
    private let mark = Symbol("object-select-symbolic")

    init(_ title: String, pressed: @escaping () -> Void) {
        widget = ActionRow(title)
        widget.addSuffix(mark)
        widget.onActivated(pressed)
    }

    /// Shows or hides the checkmark.
    func show(isChosen: Bool) {
        // The invisible mark keeps its space, so that the titles do not move.
        mark.setOpacity(isChosen ? 1 : 0)
        widget.setSelected(isChosen)
    }
}
