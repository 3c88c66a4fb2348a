// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A row with a widget in its center, whatever the widths of the widgets at its ends (`GtkCenterBox`).
package final class CenterBox: Widget {
    /// Creates a row with a widget at its end.
    package init(end: Widget) {
        unsafe super.init(gtk_center_box_new())
        unsafe gtk_center_box_set_end_widget(address, end.cast())
    }

    /// Replaces the other widgets (`gtk_center_box_set_start_widget`, `gtk_center_box_set_center_widget`).
    package func set(start: Widget?, center: Widget?) {
        unsafe gtk_center_box_set_start_widget(address, start?.cast())
        unsafe gtk_center_box_set_center_widget(address, center?.cast())
    }
}
