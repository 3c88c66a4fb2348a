// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// The application's style sheet, on top of libadwaita's.
package enum StyleSheet {
    /// Applies a style sheet, and again when the user switches between dark and light (`adw_style_manager_get_dark`).
    ///
    /// - Parameter sheet: Returns the style sheet for a dark or a light desktop.
    package static func load(_ sheet: @escaping (_ isDark: Bool) -> String) {
        guard let display = unsafe gdk_display_get_default() else { return }
        let provider = unsafe NativeObject(adopting: OpaquePointer(gtk_css_provider_new()))
        unsafe gtk_style_context_add_provider_for_display(
            display, provider.address, UInt32(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
        let manager = unsafe NativeObject(adw_style_manager_get_default())
        let fill = {
            let isDark = unsafe adw_style_manager_get_dark(manager.address) != 0
            unsafe gtk_css_provider_load_from_data(provider.cast(), sheet(isDark), -1)
        }
        fill()
        Signals.connectProperty(manager, "dark", fill)
    }
}
