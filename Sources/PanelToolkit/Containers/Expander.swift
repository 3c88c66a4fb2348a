// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A container that shows its child only after the user opens it (`GtkExpander`).
package final class Expander: Widget {
    /// Creates a closed container.
    package init(_ title: String, _ child: Widget) {
        unsafe super.init(gtk_expander_new(title))
        unsafe gtk_expander_set_child(address, child.cast())
    }

    /// Shows or hides the child with `gtk_expander_set_expanded`.
    package func setOpen(_ isOpen: Bool) { unsafe gtk_expander_set_expanded(address, isOpen ? 1 : 0) }
}
