// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A container with widgets on top of each other (`GtkOverlay`).
package final class Overlay: Widget {
    /// Creates a container with the lowest child.
    package init(_ child: Widget) {
        unsafe super.init(gtk_overlay_new())
        unsafe gtk_overlay_set_child(address, child.cast())
    }

    /// Adds a child on top with `gtk_overlay_add_overlay`.
    package func lay(over child: Widget) { unsafe gtk_overlay_add_overlay(address, child.cast()) }

    /// Removes a child that was on top with `gtk_overlay_remove_overlay`.
    package func takeOff(_ child: Widget) { unsafe gtk_overlay_remove_overlay(address, child.cast()) }
}
