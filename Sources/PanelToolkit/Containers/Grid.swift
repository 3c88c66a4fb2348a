// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A grid of widgets with columns of equal width (`GtkGrid`).
package final class Grid: Widget {
    /// Creates an empty grid.
    package init(rowSpacing: Int, columnSpacing: Int) {
        unsafe super.init(gtk_grid_new())
        unsafe gtk_grid_set_row_spacing(cast(), UInt32(rowSpacing))
        unsafe gtk_grid_set_column_spacing(cast(), UInt32(columnSpacing))
        unsafe gtk_grid_set_column_homogeneous(cast(), 1)
    }

    /// Adds a child with `gtk_grid_attach`.
    package func attach(_ child: Widget, column: Int, row: Int) {
        unsafe gtk_grid_attach(cast(), child.cast(), Int32(column), Int32(row), 1, 1)
    }
}
