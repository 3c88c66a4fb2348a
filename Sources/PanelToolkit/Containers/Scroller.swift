// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A container that only scrolls vertically (`GtkScrolledWindow`).
package final class Scroller: Widget {
    private let child: Widget

    /// Creates a container with a child.
    package init(_ child: Widget) {
        self.child = child
        unsafe super.init(gtk_scrolled_window_new())
        unsafe gtk_scrolled_window_set_policy(address, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        unsafe gtk_scrolled_window_set_child(address, child.cast())
    }

    /// Always shows the scroll bar of a child that is too high (`gtk_scrolled_window_set_overlay_scrolling`).
    package func showsBar() { unsafe gtk_scrolled_window_set_overlay_scrolling(address, 0) }

    /// Makes the scroller as high as its child is at this width, up to a maximum.
    ///
    /// The scroller's own natural height assumes that each text takes one line. The scroller can only get the keyboard
    /// focus if its child is higher than the scroller.
    package func fit(width: Int, heightMax: Int) {
        let natural = child.naturalHeight(width: width)
        let height = Int32(min(natural, heightMax))
        unsafe gtk_scrolled_window_set_max_content_height(address, -1)
        unsafe gtk_scrolled_window_set_min_content_height(address, height)
        unsafe gtk_scrolled_window_set_max_content_height(address, height)
        unsafe gtk_widget_set_can_focus(cast(), natural > heightMax ? 1 : 0)
    }

    /// Calls the body when the user scrolls to an end.
    package func onEdgeReached(_ body: @escaping () -> Void) {
        Signals.connectIndex(self, "edge-reached") { _ in body() }
    }
}
