// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// Labels that never make their window wider.
///
/// GTK gives a label the room of its widest part that no line can be broken in, and a text from elsewhere can be one such
/// part: emoji joined without an end, or a letter below hundreds of marks. A layout manager stands before the label's own
/// measuring, and asks for less.
extension Widget {
    /// `gtk_custom_layout_new`: what does not fit is cut off at the label's edge.
    func boundLabel() {
        unsafe gtk_widget_set_layout_manager(cast(), gtk_custom_layout_new(modeOfLabel, measureLabel, placeLabel))
        unsafe gtk_widget_set_overflow(cast(), GTK_OVERFLOW_HIDDEN)
    }

    /// The same for labels that libadwaita made, in a row as it is at first.
    func boundLabels() {
        guard unsafe g_type_check_instance_is_a(cast(), gtk_label_get_type()) == 0 else { return boundLabel() }
        var child = firstChild
        while let one = child {
            one.boundLabels()
            child = unsafe gtk_widget_get_next_sibling(one.cast()).map { unsafe Widget($0) }
        }
    }
}

/// Wider than any letter in the largest text that a person may want, and narrower than any place for a text.
private let labelWidthMinMax: Int32 = 72

/// The label's own functions, which GTK does not call any more.
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
