// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A button with a menu (`GtkMenuButton`).
package final class MenuButton: Widget {
    /// A menu item with its label and the action of the window or the application.
    package typealias Item = (title: String, action: String)

    /// Creates a button with a menu of sections with a line between them.
    package init(_ icon: String, named name: String, _ sections: [[Item]]) {
        let menu = unsafe NativeObject(adopting: g_menu_new())
        for items in sections {
            let section = unsafe NativeObject(adopting: g_menu_new())
            for item in items { unsafe g_menu_append(section.address, item.title, item.action) }
            unsafe g_menu_append_section(menu.address, nil, section.cast())
        }
        unsafe super.init(gtk_menu_button_new())
        unsafe gtk_menu_button_set_icon_name(address, icon)
        unsafe gtk_menu_button_set_menu_model(address, menu.cast())
        unsafe gtk_menu_button_set_primary(address, 1)
        named(name).hinted(name).styled("touch")
    }
}
