// SPDX-License-Identifier: Apache-2.0

/// A row that shows its value at the right and leads to where it is chosen.
final class ValueRow {
    let widget: Widget
    private let value = Widget.label("", .cut(lines: 1)).styled("dim-label")
    private let arrow = Widget.symbol("go-next-symbolic").styled("dim-label")
    private let lock = LockMark()
    private let isBelow: Bool

    /// Makes a row.
    ///
    /// - Parameters:
    ///   - title: What it is.
    ///   - isBelow: Whether the value is too long for the right and stands below.
    ///   - pressed: Opens the list; nil for a value that is only shown.
    init(_ title: String, isBelow: Bool = false, pressed: (() -> Void)? = nil) {
        self.isBelow = isBelow
        widget = .actionRow(title)
        widget.addSuffix(lock.widget)
        if !isBelow { widget.addSuffix(value) }
        guard let pressed else { return }
        widget.addSuffix(arrow)
        widget.onActivated(pressed)
    }

    /// Shows the value.
    func show(_ text: String, subtitle: String = "", isLocked: Bool = false) {
        value.setText(text)
        lock.show(isLocked)
        widget.setRowSubtitle(isLocked ? LockMark.text : isBelow ? text : subtitle)
        widget.setActivatable(!isLocked)
        arrow.isVisible = !isLocked
        widget.described(text)
    }
}

/// Rows of which the chosen ones have a checkmark.
final class CheckRow {
    let widget: Widget
    private let mark = Widget.symbol("object-select-symbolic")

    /// Makes a row.
    init(_ title: String, pressed: @escaping () -> Void) {
        widget = .actionRow(title)
        widget.addSuffix(mark)
        widget.onActivated(pressed)
    }

    /// Whether it has the checkmark.
    func show(isChosen: Bool) {
        // It keeps its place, so that titles stay where they are.
        mark.setOpacity(isChosen ? 1 : 0)
        widget.setSelected(isChosen)
    }
}
