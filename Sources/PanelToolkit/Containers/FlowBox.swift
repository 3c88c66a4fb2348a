// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A row of widgets of the same size, which continues on the next line when it is too long (`GtkFlowBox`).
package final class FlowBox: Widget {
    /// Creates an empty container.
    ///
    /// - Parameters:
    ///   - columnCountMax: The maximum number of widgets on a line.
    ///   - spacing: The space between the widgets in pixels.
    package init(columnCountMax: Int, spacing: Int) {
        unsafe super.init(gtk_flow_box_new())
        unsafe gtk_flow_box_set_selection_mode(address, GTK_SELECTION_NONE)
        unsafe gtk_flow_box_set_max_children_per_line(address, UInt32(columnCountMax))
        unsafe gtk_flow_box_set_column_spacing(address, UInt32(spacing))
        unsafe gtk_flow_box_set_row_spacing(address, UInt32(spacing))
        unsafe gtk_flow_box_set_homogeneous(address, 1)
    }

    /// Appends a widget with `gtk_flow_box_insert`, and makes the surrounding `GtkFlowBoxChild` unfocusable.
    package func append(_ widget: Widget) {
        unsafe gtk_flow_box_insert(address, widget.cast(), -1)
        widget.parent?.setFocusable(false)
    }
}
