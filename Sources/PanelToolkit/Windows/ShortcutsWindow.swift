// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// The window that lists the keyboard shortcuts (`GtkShortcutsWindow`).
package final class ShortcutsWindow: Window {
    /// A group of shortcuts with its title.
    package struct Group {
        package var title: String
        package var shortcuts: [Shortcut]

        package init(_ title: String, _ shortcuts: [Shortcut]) {
            self.title = title
            self.shortcuts = shortcuts
        }
    }

    /// The keys of a shortcut in GTK's notation, and its effect.
    package struct Shortcut {
        package var keys: String
        package var title: String

        package init(_ keys: String, _ title: String) {
            self.keys = keys
            self.title = title
        }
    }

    /// Creates a window; GTK 4.8 builds it from XML only (`gtk_builder_new_from_string`).
    package init(_ groups: [Group]) {
        let builder = unsafe NativeObject(adopting: gtk_builder_new_from_string(Self.markup(groups), -1))
        unsafe super.init(OpaquePointer(gtk_builder_get_object(builder.address, "shortcuts")))
        unsafe gtk_window_set_modal(cast(), 1)
    }

    private static func markup(_ groups: [Group]) -> String {
        let parts = groups.map { group in
            let rows = group.shortcuts.map { shortcut in
                "<child><object class='GtkShortcutsShortcut'>" + property("accelerator", shortcut.keys)
                    + property("title", shortcut.title) + "</object></child>"
            }
            return "<child><object class='GtkShortcutsGroup'>" + property("title", group.title) + rows.joined()
                + "</object></child>"
        }
        return "<interface><object class='GtkShortcutsWindow' id='shortcuts'><child>"
            + "<object class='GtkShortcutsSection'>" + property("section-name", "all") + parts.joined()
            + "</object></child></object></interface>"
    }

    private static func property(_ name: String, _ value: String) -> String {
        let escaped = unsafe g_markup_escape_text(value, -1)
        defer { unsafe g_free(escaped) }
        return "<property name='\(name)'>" + (unsafe escaped.map { unsafe String(cString: $0) } ?? "") + "</property>"
    }
}
