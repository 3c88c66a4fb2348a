// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A plain text (`GtkLabel`), which is never parsed as markup.
package final class Label: Widget {
    /// The behavior of a label when its text is too long.
    package enum Fit {
        /// The text wraps to as many lines as it needs.
        case wrapped
        /// The text is truncated at the end of the given number of lines.
        case cut(lines: Int)
        /// The text is on one line and never truncated.
        case whole
    }

    /// Whether the label's minimum width is bounded.
    private var isBound = false

    /// Creates a label with its text at the start.
    package init(_ text: String, _ fit: Label.Fit = .wrapped) {
        unsafe super.init(gtk_label_new(""))
        setFit(fit)
        unsafe gtk_label_set_wrap_mode(address, PANGO_WRAP_WORD_CHAR)
        setText(text)
        // The start depends on the direction of the language.
        unsafe gtk_label_set_xalign(address, 0)
        unsafe gtk_label_set_justify(address, GTK_JUSTIFY_LEFT)
    }

    /// Sets the behavior for a text that is too long (`gtk_label_set_wrap`, `gtk_label_set_ellipsize`).
    package func setFit(_ fit: Label.Fit) {
        let (wraps, lines): (Bool, Int?) =
            switch fit {
            case .wrapped: (true, nil)
            case .cut(let lines): (lines > 1, lines)
            case .whole: (false, nil)
            }
        unsafe gtk_label_set_wrap(address, wraps ? 1 : 0)
        unsafe gtk_label_set_ellipsize(address, lines == nil ? PANGO_ELLIPSIZE_NONE : PANGO_ELLIPSIZE_END)
        unsafe gtk_label_set_lines(address, Int32(lines ?? -1))
        unsafe gtk_label_set_single_line_mode(address, lines == 1 ? 1 : 0)
        if wraps, !isBound {
            LabelWidth.bound(self)
            isBound = true
        }
    }

    /// Sets the text with `gtk_label_set_text`, without control and zero-width characters.
    package func setText(_ text: String) { unsafe gtk_label_set_text(address, ShownText.clean(text)) }

    /// Returns the number of lines of the text at a width in pixels (`pango_layout_get_line_count`).
    package func lineCount(width: Int) -> Int {
        let layout = unsafe gtk_widget_create_pango_layout(cast(), gtk_label_get_text(address))
        defer { unsafe g_object_unref(UnsafeMutableRawPointer(layout)) }
        unsafe pango_layout_set_width(layout, Int32(clamping: width) * PANGO_SCALE)
        unsafe pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR)
        return Int(unsafe pango_layout_get_line_count(layout))
    }

    /// Centers the text.
    @discardableResult
    package func centered() -> Self {
        unsafe gtk_label_set_xalign(address, 0.5)
        unsafe gtk_label_set_justify(address, GTK_JUSTIFY_CENTER)
        return self
    }

    /// Lets the user select and copy the text.
    @discardableResult
    package func selectable() -> Self {
        unsafe gtk_label_set_selectable(address, 1)
        return self
    }
}
