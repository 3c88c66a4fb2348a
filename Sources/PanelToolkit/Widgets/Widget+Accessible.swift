// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

extension Widget {
    /// Sets the accessible name (`gtk_accessible_update_property_value`).
    @discardableResult
    package func named(_ name: String) -> Self {
        setAccessible(GTK_ACCESSIBLE_PROPERTY_LABEL, name)
        return self
    }

    /// Sets the accessible description, which a screen reader speaks after the name.
    @discardableResult
    package func described(_ description: String) -> Self {
        setAccessible(GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, description)
        return self
    }

    /// Hides the widget from screen readers, because a neighboring widget has the same text.
    @discardableResult
    package func unread() -> Self {
        setRead(false)
        return self
    }

    /// Sets whether screen readers read the widget and its descendants (`GTK_ACCESSIBLE_STATE_HIDDEN`).
    package func setRead(_ isRead: Bool) { setFlag(GTK_ACCESSIBLE_STATE_HIDDEN, !isRead) }

    /// Sets whether the widget is not ready for input yet (`GTK_ACCESSIBLE_STATE_BUSY`).
    package func setBusy(_ isBusy: Bool) { setFlag(GTK_ACCESSIBLE_STATE_BUSY, isBusy) }

    /// Sets whether the widget is selected, as a tab or a row with a checkmark.
    package func setSelected(_ isSelected: Bool) { setState(GTK_ACCESSIBLE_STATE_SELECTED, isSelected) }

    /// Sets whether the widget is on, as a switch or a check box (`GTK_ACCESSIBLE_STATE_CHECKED`).
    package func setChecked(_ isChecked: Bool) { setState(GTK_ACCESSIBLE_STATE_CHECKED, isChecked) }

    /// Sets whether screen readers describe the widget as one that cannot be used (`GTK_ACCESSIBLE_STATE_DISABLED`).
    ///
    /// Unlike with `isSensitive`, the keyboard still reaches the widget, so that a user hears why.
    package func setReadAsDisabled(_ isDisabled: Bool) {
        setFlag(GTK_ACCESSIBLE_STATE_DISABLED, isDisabled)
    }

    /// Sets whether a widget with collapsible content shows it (`GTK_ACCESSIBLE_STATE_EXPANDED`); nil for others.
    package func setExpanded(_ isExpanded: Bool?) {
        guard let isExpanded else {
            return unsafe gtk_accessible_reset_state(address, GTK_ACCESSIBLE_STATE_EXPANDED)
        }
        setState(GTK_ACCESSIBLE_STATE_EXPANDED, isExpanded)
    }

    /// Sets a state that is true or false.
    private func setFlag(_ state: GtkAccessibleState, _ isOn: Bool) {
        var value = GValue()
        var state = state
        unsafe g_value_init(&value, Self.booleanType)
        unsafe g_value_set_boolean(&value, isOn ? 1 : 0)
        unsafe gtk_accessible_update_state_value(address, 1, &state, &value)
        unsafe g_value_unset(&value)
    }

    /// Sets a state that is true, false or undefined.
    private func setState(_ state: GtkAccessibleState, _ isOn: Bool) {
        var value = GValue()
        var state = state
        // GTK reads such a state from an integer, also where `gtk_accessible_state_init_value` chooses another type.
        unsafe g_value_init(&value, Self.integerType)
        unsafe g_value_set_int(&value, isOn ? 1 : 0)
        unsafe gtk_accessible_update_state_value(address, 1, &state, &value)
        unsafe g_value_unset(&value)
    }

    /// Sets a property to a text without control characters, which a screen reader would speak or show as boxes.
    private func setAccessible(_ property: GtkAccessibleProperty, _ text: String) {
        var value = GValue()
        var property = property
        unsafe gtk_accessible_property_init_value(property, &value)
        unsafe g_value_set_string(&value, ShownText.clean(text))
        unsafe gtk_accessible_update_property_value(address, 1, &property, &value)
        unsafe g_value_unset(&value)
    }

    /// Creates an object with a role that can only be set at creation (`g_object_new_with_properties`).
    ///
    /// - Parameters:
    ///   - type: The class of the widget.
    ///   - role: The accessible role.
    /// - Returns: The new object, for an initializer of this type.
    static func make(_ type: GType, role: GtkAccessibleRole) -> UnsafeMutablePointer<GObject>? {
        var value = GValue()
        unsafe g_value_init(&value, gtk_accessible_role_get_type())
        unsafe g_value_set_enum(&value, Int32(bitPattern: role.rawValue))
        defer { unsafe g_value_unset(&value) }
        return unsafe "accessible-role".withCString { name in
            var names: [UnsafePointer<CChar>?] = unsafe [name]
            return unsafe g_object_new_with_properties(type, 1, &names, &value)
        }
    }
}
