// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A button with a menu (`GtkMenuButton`).
package final class MenuButton: Widget {
    /// Creates a button with a menu of actions of the window or the application.
    package init(_ icon: String, named name: String, _ items: [(title: String, action: String)]) {
        let menu = unsafe NativeObject(adopting: g_menu_new())
        for item in items { unsafe g_menu_append(menu.address, item.title, item.action) }
        unsafe super.init(gtk_menu_button_new())
        unsafe gtk_menu_button_set_icon_name(address, icon)
        unsafe gtk_menu_button_set_menu_model(address, menu.cast())
        unsafe gtk_menu_button_set_primary(address, 1)
        named(name).hinted(name).styled("touch")
    }
}
