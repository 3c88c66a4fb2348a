// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// An icon of the theme (`GtkImage`), which screen readers skip.
package final class Symbol: Widget {
    /// Creates an icon with `gtk_image_new_from_icon_name`.
    ///
    /// - Parameters:
    ///   - name: The name in the theme.
    ///   - pixels: The width and height; nil for 16 pixels at the normal text size, and more with larger text.
    package init(_ name: String, pixels: Int? = nil) {
        unsafe super.init(gtk_image_new_from_icon_name(name))
        unsafe gtk_image_set_pixel_size(address, Int32(pixels ?? Int(16 * Desktop.textScale)))
        unread()
    }

    /// Changes the icon with `gtk_image_set_from_icon_name`.
    package func setIcon(_ name: String) { unsafe gtk_image_set_from_icon_name(address, name) }

    /// Returns whether the theme has an icon (`gtk_icon_theme_has_icon`).
    package static func exists(_ name: String) -> Bool {
        guard let display = unsafe gdk_display_get_default() else { return false }
        return unsafe gtk_icon_theme_has_icon(gtk_icon_theme_get_for_display(display), name) != 0
    }
}
