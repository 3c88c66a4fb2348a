// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A container that shows one of its children (`GtkStack`).
package final class Stack: Widget {
    /// Creates an empty container.
    ///
    /// - Parameter isSliding: Whether a change slides instead of replacing the child at once.
    package init(isSliding: Bool = false) {
        unsafe super.init(gtk_stack_new())
        let kind = isSliding ? GTK_STACK_TRANSITION_TYPE_SLIDE_LEFT_RIGHT : GTK_STACK_TRANSITION_TYPE_NONE
        unsafe gtk_stack_set_transition_type(address, kind)
        unsafe gtk_stack_set_vhomogeneous(address, 0)
        unsafe gtk_stack_set_hhomogeneous(address, 0)
    }

    /// Adds a child with `gtk_stack_add_child`; the first child is visible.
    package func add(_ child: Widget) {
        unsafe _ = gtk_stack_add_child(address, child.cast())
        child.setRead(unsafe gtk_stack_get_visible_child(address) == child.cast())
    }

    /// Removes a child with `gtk_stack_remove`.
    package func remove(_ child: Widget) { unsafe gtk_stack_remove(address, child.cast()) }

    /// Shows a child with `gtk_stack_set_visible_child`; also hides the others from screen readers, unlike GTK.
    package func show(_ child: Widget) {
        unsafe gtk_stack_get_visible_child(address).map { unsafe Widget($0) }?.setRead(false)
        unsafe gtk_stack_set_visible_child(address, child.cast())
        child.setRead(true)
    }
}
