// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// A row that reveals the original text of an error, which the user can copy for the administrator.
final class DetailsRow {
    let widget: ExpanderRow
    private let text = Label("").selectable().styled("dim-label")

    init(_ title: String) {
        widget = ExpanderRow(title)
        widget.add(PlainRow(text.padded(across: 12, above: 12, below: 12)))
        widget.isVisible = false
    }

    /// Shows a text; an empty one hides the row.
    func show(_ details: String) {
        text.setText(details)
        widget.isVisible = !details.isEmpty
    }
}
