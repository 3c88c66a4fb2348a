// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// The bar at the top of a window (`AdwHeaderBar`).
package final class HeaderBar: Widget {
    /// Creates a bar with a title.
    package init(_ title: String) {
        titleText = unsafe Widget(adw_window_title_new(title, ""))
        unsafe super.init(adw_header_bar_new())
        setTitle(titleText)
    }

    /// The title as a text, for `setTitle`.
    package let titleText: Widget

    /// Replaces the title with a widget (`adw_header_bar_set_title_widget`).
    package func setTitle(_ widget: Widget) { unsafe adw_header_bar_set_title_widget(address, widget.cast()) }

    /// Adds a widget at the start with `adw_header_bar_pack_start`.
    package func packStart(_ child: Widget) { unsafe adw_header_bar_pack_start(address, child.cast()) }

    /// Adds a widget at the end with `adw_header_bar_pack_end`.
    package func packEnd(_ child: Widget) { unsafe adw_header_bar_pack_end(address, child.cast()) }

    /// Shows the user's window buttons or only the close button (`adw_header_bar_set_decoration_layout`).
    package func setWindowButtons(closeOnly: Bool) {
        unsafe adw_header_bar_set_decoration_layout(address, closeOnly ? ":close" : nil)
    }

    /// Hides all window buttons.
    package func withoutWindowButtons() {
        unsafe adw_header_bar_set_show_end_title_buttons(address, 0)
        unsafe adw_header_bar_set_show_start_title_buttons(address, 0)
    }
}
