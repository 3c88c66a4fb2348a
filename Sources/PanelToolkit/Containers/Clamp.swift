// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A container that limits the width of its child (`AdwClamp`).
package final class Clamp: Widget {
    /// Creates a container with a child and its maximum width in pixels.
    package init(_ child: Widget, widthMax: Int) {
        unsafe super.init(adw_clamp_new())
        unsafe adw_clamp_set_maximum_size(address, Int32(widthMax))
        unsafe adw_clamp_set_tightening_threshold(address, Int32(widthMax))
        unsafe adw_clamp_set_child(address, child.cast())
    }
}

/// A container that limits the width of a list view and leaves scrolling to it (`AdwClampScrollable`).
package final class ListClamp: Widget {
    /// Creates a container with a list view and its maximum width in pixels.
    package init(_ list: ListView, widthMax: Int) {
        unsafe super.init(adw_clamp_scrollable_new())
        unsafe adw_clamp_scrollable_set_maximum_size(address, Int32(widthMax))
        unsafe adw_clamp_scrollable_set_tightening_threshold(address, Int32(widthMax))
        unsafe adw_clamp_scrollable_set_child(address, list.cast())
    }
}
