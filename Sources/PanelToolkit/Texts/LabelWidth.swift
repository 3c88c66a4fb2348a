// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// Lets labels never make their window wider.
///
/// A label's minimum width is that of its widest part without a line break. A text from another program can be one such
/// part: an endless sequence of joined emoji, or a letter with hundreds of combining marks. A layout manager replaces
/// the label's own measurement and requests less.
enum LabelWidth {
    /// Installs `gtk_custom_layout_new`; text that does not fit is clipped at the label's edge.
    static func bound(_ label: Widget) {
        unsafe gtk_widget_set_layout_manager(label.cast(), gtk_custom_layout_new(modeOfLabel, measureLabel, placeLabel))
        unsafe gtk_widget_set_overflow(label.cast(), GTK_OVERFLOW_HIDDEN)
    }

    /// Bounds the labels that libadwaita created in a new row.
    static func boundAll(in widget: Widget) {
        guard !widget.isInstance(of: gtk_label_get_type()) else { return bound(widget) }
        var child = widget.firstChild
        while let one = child {
            boundAll(in: one)
            child = one.nextSibling
        }
    }
}

/// The maximum of a label's minimum width, in pixels: wider than any letter, narrower than any space for a text.
private let labelWidthMinMax: Int32 = 72

/// The class structure of `GtkLabel`, whose functions GTK no longer calls for these labels.
private var labelClass: UnsafeMutablePointer<GtkWidgetClass>? {
    unsafe g_type_class_peek(gtk_label_get_type())?.assumingMemoryBound(to: GtkWidgetClass.self)
}

private let modeOfLabel: GtkCustomRequestModeFunc = { label in
    unsafe labelClass?.pointee.get_request_mode?(label) ?? GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH
}

private let measureLabel: GtkCustomMeasureFunc = { label, orientation, length, least, natural, leastLine, naturalLine in
    unsafe labelClass?.pointee.measure?(label, orientation, length, least, natural, leastLine, naturalLine)
    guard orientation == GTK_ORIENTATION_HORIZONTAL, let least = unsafe least else { return }
    unsafe least.pointee = min(least.pointee, labelWidthMinMax)
}

private let placeLabel: GtkCustomAllocateFunc = { label, width, height, line in
    unsafe labelClass?.pointee.size_allocate?(label, width, height, line)
}
