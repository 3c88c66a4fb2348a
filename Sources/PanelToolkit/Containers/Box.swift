// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A row or a column of widgets (`GtkBox`).
package final class Box: Widget {
    /// Creates a row.
    package static func row(spacing: Int = 0, _ children: Widget...) -> Box {
        Box(GTK_ORIENTATION_HORIZONTAL, spacing: spacing, children)
    }

    /// Creates a column.
    package static func column(spacing: Int = 0, _ children: Widget...) -> Box {
        Box(GTK_ORIENTATION_VERTICAL, spacing: spacing, children)
    }

    private init(_ orientation: GtkOrientation, spacing: Int, _ children: [Widget]) {
        unsafe super.init(gtk_box_new(orientation, Int32(spacing)))
        for child in children { append(child) }
    }

    /// Creates a row with the accessible role of a tab list.
    package init(tabListWithSpacing spacing: Int) {
        unsafe super.init(Widget.make(gtk_box_get_type(), role: GTK_ACCESSIBLE_ROLE_TAB_LIST))
        unsafe gtk_box_set_spacing(cast(), Int32(spacing))
    }

    /// Turns the box into a row or a column with `gtk_orientable_set_orientation`.
    package func turn(isRow: Bool) {
        unsafe gtk_orientable_set_orientation(address, isRow ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL)
    }

    /// Appends a child with `gtk_box_append`.
    package func append(_ child: Widget) { unsafe gtk_box_append(cast(), child.cast()) }

    /// Removes all children with `gtk_box_remove`.
    package func removeAll() {
        while let child = firstChild { unsafe gtk_box_remove(cast(), child.cast()) }
    }

    /// Gives all children the same size (`gtk_box_set_homogeneous`).
    @discardableResult
    package func homogeneous() -> Self {
        setHomogeneous(true)
        return self
    }

    /// Sets whether all children have the same size (`gtk_box_set_homogeneous`).
    package func setHomogeneous(_ isHomogeneous: Bool) {
        unsafe gtk_box_set_homogeneous(cast(), isHomogeneous ? 1 : 0)
    }
}
