// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A button that stays pressed (`GtkToggleButton`).
package final class ToggleButton: Button {
    /// Creates a button with a label that is truncated when it is too long.
    package init(_ title: String) {
        unsafe super.init(button: gtk_toggle_button_new())
        setTitle(title)
    }

    /// Creates a button with the role of a tab.
    package init(tabAround child: Widget, named name: String) {
        unsafe super.init(object: Widget.make(gtk_toggle_button_get_type(), role: GTK_ACCESSIBLE_ROLE_TAB))
        setChild(child)
        named(name)
    }

    /// Adds the button to a group in which one button is on (`gtk_toggle_button_set_group`).
    package func join(_ other: ToggleButton) { unsafe gtk_toggle_button_set_group(cast(), other.cast()) }

    /// Whether the button is on (`gtk_toggle_button_set_active`).
    package var isOn: Bool {
        get { unsafe gtk_toggle_button_get_active(cast()) != 0 }
        set { unsafe gtk_toggle_button_set_active(cast(), newValue ? 1 : 0) }
    }

    /// Calls the body after each change, also one by the program.
    package func onToggled(_ body: @escaping () -> Void) { Signals.connect(self, "toggled", body) }
}
