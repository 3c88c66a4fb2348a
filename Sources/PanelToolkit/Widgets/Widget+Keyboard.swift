// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

extension Widget {
    /// Adds a keyboard shortcut (`gtk_shortcut_controller_new`).
    ///
    /// - Parameters:
    ///   - trigger: The keys in GTK's notation, for example `<Control>f`; alternatives are separated with `|`.
    ///   - isLocal: Whether the shortcut only works while the focus is in the widget, and not in the whole window.
    ///   - body: Returns whether it handled the key.
    package func onShortcut(_ trigger: String, isLocal: Bool = false, _ body: @escaping () -> Bool) {
        let controller = unsafe NativeObject(adopting: gtk_shortcut_controller_new())
        unsafe gtk_shortcut_controller_set_scope(
            controller.address, isLocal ? GTK_SHORTCUT_SCOPE_LOCAL : GTK_SHORTCUT_SCOPE_GLOBAL)
        let handler = unsafe Unmanaged.passRetained(ShortcutHandler(body)).toOpaque()
        let action = unsafe gtk_callback_action_new(pressed, handler, released)
        let shortcut = unsafe gtk_shortcut_new(gtk_shortcut_trigger_parse_string(trigger), action)
        unsafe gtk_shortcut_controller_add_shortcut(controller.address, shortcut)
        take(controller)
    }

    /// Handles Tab and Shift+Tab before the widget's descendants do (`gtk_event_controller_key_new`).
    ///
    /// - Parameter body: Receives true for Shift+Tab; returns true to consume the key.
    func onTabFirst(_ body: @escaping (_ isBack: Bool) -> Bool) {
        let controller = unsafe NativeObject(adopting: gtk_event_controller_key_new())
        unsafe gtk_event_controller_set_propagation_phase(controller.address, GTK_PHASE_CAPTURE)
        Signals.connectKeyDown(controller) { _, symbol in
            switch symbol {
            case UInt32(GDK_KEY_ISO_Left_Tab): body(true)
            case UInt32(GDK_KEY_Tab), UInt32(GDK_KEY_KP_Tab): body(false)
            default: false
            }
        }
        take(controller)
    }

    /// Handles every key press and release before the widget's descendants do (`gtk_event_controller_key_new`).
    ///
    /// - Parameters:
    ///   - down: Returns true to consume the key; called again for each repeat of a held key.
    ///   - up: Called when the key is released.
    package func onKeyFirst(
        down: @escaping (_ code: UInt32, _ symbol: UInt32, _ eventTime: UInt32) -> Bool,
        up: @escaping (_ code: UInt32) -> Void
    ) {
        let controller = unsafe NativeObject(adopting: gtk_event_controller_key_new())
        let address = unsafe controller.address
        unsafe gtk_event_controller_set_propagation_phase(address, GTK_PHASE_CAPTURE)
        // The controller outlives its own callbacks.
        Signals.connectKeyDown(controller) {
            down($0, $1, unsafe gtk_event_controller_get_current_event_time(address))
        }
        Signals.connectKeyUp(controller, up)
        take(controller)
    }
}

/// The box around the closure of a shortcut, which lives as long as GTK keeps the shortcut.
private final class ShortcutHandler {
    let body: () -> Bool

    init(_ body: @escaping () -> Bool) { self.body = body }
}

private let pressed: GtkShortcutFunc = { _, _, handler in
    guard let handler = unsafe handler else { return 0 }
    return unsafe Unmanaged<ShortcutHandler>.fromOpaque(handler).takeUnretainedValue().body() ? 1 : 0
}

private let released: GDestroyNotify = { handler in
    guard let handler = unsafe handler else { return }
    unsafe Unmanaged<ShortcutHandler>.fromOpaque(handler).release()
}
