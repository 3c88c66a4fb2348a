// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

extension NativeObject {
    // The types are the macros G_TYPE_BOOLEAN, G_TYPE_INT and G_TYPE_STRING, which Swift cannot import.
    static var booleanType: GType { GType(5 << 2) }
    static var integerType: GType { GType(6 << 2) }
    private static var stringType: GType { GType(16 << 2) }

    /// Sets a property with `g_object_set_property`.
    func setProperty(_ name: String, _ text: String) {
        var value = GValue()
        unsafe g_value_init(&value, Self.stringType)
        unsafe g_value_set_string(&value, text)
        unsafe g_object_set_property(cast(), name, &value)
        unsafe g_value_unset(&value)
    }

    /// Sets a Boolean property with `g_object_set_property`.
    func setProperty(_ name: String, _ isOn: Bool) {
        var value = GValue()
        unsafe g_value_init(&value, Self.booleanType)
        unsafe g_value_set_boolean(&value, isOn ? 1 : 0)
        unsafe g_object_set_property(cast(), name, &value)
        unsafe g_value_unset(&value)
    }

    /// Returns a Boolean property (`g_object_get_property`).
    func flag(_ name: String) -> Bool {
        var value = GValue()
        unsafe g_value_init(&value, Self.booleanType)
        defer { unsafe g_value_unset(&value) }
        unsafe g_object_get_property(cast(), name, &value)
        return unsafe g_value_get_boolean(&value) != 0
    }

    /// Returns whether the object is of a class or a subclass (`g_type_check_instance_is_a`).
    func isInstance(of type: GType) -> Bool { unsafe g_type_check_instance_is_a(cast(), type) != 0 }
}
