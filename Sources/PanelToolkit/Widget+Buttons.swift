// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita
internal import PushCore

extension Widget {
    /// Creates a `gtk_button_new` with a label that is truncated when it is too long.
    package static func button(_ title: String, _ pressed: @escaping () -> Void) -> Widget {
        let button = unsafe Widget(gtk_button_new())
        button.setTitle(title)
        Signals.connect(button, "clicked", pressed)
        return button
    }

    /// Sets the label of a button.
    package func setTitle(_ title: String, _ fit: Fit = .cut(lines: 1)) {
        let label = Widget.label(title, fit).centred()
        unsafe gtk_button_set_child(cast(), label.cast())
        named(DisplayText.plain(title))
    }

    /// Creates a button around any widget.
    package static func button(around child: Widget, named name: String, _ pressed: @escaping () -> Void) -> Widget {
        let button = unsafe Widget(gtk_button_new())
        unsafe gtk_button_set_child(button.cast(), child.cast())
        Signals.connect(button, "clicked", pressed)
        return button.named(name)
    }

    /// Creates a button with an icon; its accessible name is also its tooltip.
    package static func iconButton(_ icon: String, named name: String, _ pressed: @escaping () -> Void) -> Widget {
        let button = button(around: .symbol(icon), named: name, pressed).styled("touch")
        return button.hinted(name)
    }

    /// Creates a `gtk_toggle_button_new` with the role of a tab.
    package static func tab(around child: Widget, named name: String) -> Widget {
        let button = unsafe Widget(Widget.make(gtk_toggle_button_get_type(), role: GTK_ACCESSIBLE_ROLE_TAB))
        unsafe gtk_button_set_child(button.cast(), child.cast())
        return button.named(name)
    }

    /// Creates a `gtk_toggle_button_new` with a label that is truncated when it is too long.
    package static func toggle(_ title: String) -> Widget {
        let button = unsafe Widget(gtk_toggle_button_new())
        button.setTitle(title)
        return button
    }

    /// Adds the button to a group in which one button is on (`gtk_toggle_button_set_group`).
    package func join(_ other: Widget) { unsafe gtk_toggle_button_set_group(cast(), other.cast()) }

    /// Whether a toggle button is on (`gtk_toggle_button_set_active`).
    package var isPressed: Bool {
        get { unsafe gtk_toggle_button_get_active(cast()) != 0 }
        set { unsafe gtk_toggle_button_set_active(cast(), newValue ? 1 : 0) }
    }

    /// Creates a switch with `gtk_switch_new`.
    package static func toggleSwitch() -> Widget { unsafe Widget(gtk_switch_new()).placed(down: .center) }

    /// Whether a switch is on (`gtk_switch_set_active`).
    package var isOn: Bool {
        get { unsafe gtk_switch_get_active(address) != 0 }
        set { unsafe gtk_switch_set_active(address, newValue ? 1 : 0) }
    }

    /// Creates a check button with `gtk_check_button_new`.
    package static func check() -> Widget { unsafe Widget(gtk_check_button_new()).placed(down: .center) }

    /// Whether a check button is checked (`gtk_check_button_set_active`).
    package var isChecked: Bool {
        get { unsafe gtk_check_button_get_active(cast()) != 0 }
        set { unsafe gtk_check_button_set_active(cast(), newValue ? 1 : 0) }
    }

    /// Creates a vertical `gtk_spin_button_new_with_range` for an integer, which wraps around at both ends.
    package static func numberEntry(_ range: ClosedRange<Int>, step: Int) -> Widget {
        let (first, last) = (Double(range.lowerBound), Double(range.upperBound))
        let entry = unsafe Widget(gtk_spin_button_new_with_range(first, last, Double(step)))
        unsafe gtk_orientable_set_orientation(entry.address, GTK_ORIENTATION_VERTICAL)
        unsafe gtk_spin_button_set_wrap(entry.address, 1)
        unsafe gtk_spin_button_set_numeric(entry.address, 1)
        unsafe gtk_editable_set_width_chars(entry.address, 2)
        Signals.connectAnswering(entry, "output") { [weak entry] in
            guard let entry else { return false }
            entry.typedText = "\(entry.number < 10 ? "0" : "")\(entry.number)"
            return true
        }
        return entry.placed(down: .center)
    }

    /// The number in a spin button (`gtk_spin_button_set_value`).
    package var number: Int {
        get { Int(unsafe gtk_spin_button_get_value_as_int(address)) }
        set {
            unsafe gtk_spin_button_set_value(address, Double(newValue))
            // Setting the same value would not update the text.
            unsafe gtk_spin_button_update(address)
        }
    }

    /// Creates a `gtk_menu_button_new` with a menu of actions of the window or the application.
    package static func menuButton(_ icon: String, named name: String, _ items: [(title: String, action: String)])
        -> Widget
    {
        let menu = unsafe Widget(adopting: g_menu_new())
        for item in items { unsafe g_menu_append(menu.address, item.title, item.action) }
        let button = unsafe Widget(gtk_menu_button_new())
        unsafe gtk_menu_button_set_icon_name(button.address, icon)
        unsafe gtk_menu_button_set_menu_model(button.address, menu.cast())
        unsafe gtk_menu_button_set_primary(button.address, 1)
        return button.named(name).hinted(name).styled("touch")
    }
}
