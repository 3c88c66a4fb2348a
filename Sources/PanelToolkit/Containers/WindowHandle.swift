// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A container that drags the window when the user drags it (`GtkWindowHandle`).
package final class WindowHandle: Widget {
    /// Creates a container with a child.
    package init(_ child: Widget) {
        unsafe super.init(gtk_window_handle_new())
        unsafe gtk_window_handle_set_child(address, child.cast())
    }
}
