// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// Keyboard shortcuts and input handlers.
package enum Keys {
    /// Adds a keyboard shortcut (`gtk_shortcut_controller_new`).
    ///
    /// - Parameters:
    ///   - window: The window, or a widget in it.
    ///   - trigger: The keys in GTK's notation, for example `<Control>f`; alternatives are separated with `|`.
    ///   - isLocal: Whether the shortcut only works while the focus is in the widget.
    ///   - body: Returns whether it handled the key.
    package static func on(_ window: Widget, _ trigger: String, isLocal: Bool = false, _ body: @escaping () -> Bool) {
        let controller = unsafe Widget.adopting(gtk_shortcut_controller_new())
        unsafe gtk_shortcut_controller_set_scope(
            controller.address, isLocal ? GTK_SHORTCUT_SCOPE_LOCAL : GTK_SHORTCUT_SCOPE_GLOBAL)
        let handler = unsafe Unmanaged.passRetained(Handler(body)).toOpaque()
        let action = unsafe gtk_callback_action_new(pressed, handler, released)
        let shortcut = unsafe gtk_shortcut_new(gtk_shortcut_trigger_parse_string(trigger), action)
        unsafe gtk_shortcut_controller_add_shortcut(controller.address, shortcut)
        window.take(controller)
    }

    fileprivate final class Handler {
        let body: () -> Bool

        init(_ body: @escaping () -> Bool) { self.body = body }
    }
}

private let pressed: GtkShortcutFunc = { _, _, handler in
    guard let handler = unsafe handler else { return 0 }
    return unsafe Unmanaged<Keys.Handler>.fromOpaque(handler).takeUnretainedValue().body() ? 1 : 0
}

private let released: GDestroyNotify = { handler in
    guard let handler = unsafe handler else { return }
    unsafe Unmanaged<Keys.Handler>.fromOpaque(handler).release()
}

extension Widget {
    /// Adds a controller with `gtk_widget_add_controller`, which takes ownership of a reference.
    func take(_ controller: Widget) {
        unsafe g_object_ref(UnsafeMutableRawPointer(controller.address))
        unsafe gtk_widget_add_controller(cast(), controller.address)
    }

    /// Handles every key press before the widget's descendants do (`gtk_event_controller_key_new`).
    package func onKeyFirst(_ body: @escaping (_ key: UInt32, _ modifiers: UInt32) -> Bool) {
        let controller = unsafe Widget.adopting(gtk_event_controller_key_new())
        unsafe gtk_event_controller_set_propagation_phase(controller.address, GTK_PHASE_CAPTURE)
        Signals.connectKey(controller, body)
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
        let controller = unsafe Widget.adopting(gtk_event_controller_key_new())
        let address = unsafe controller.address
        unsafe gtk_event_controller_set_propagation_phase(address, GTK_PHASE_CAPTURE)
        // The controller outlives its own callbacks.
        Signals.connectKeyDown(controller) {
            down($0, $1, unsafe gtk_event_controller_get_current_event_time(address))
        }
        Signals.connectKeyUp(controller, up)
        take(controller)
    }

    /// Handles every press of the pointer or a finger before the widget's descendants (`gtk_gesture_click_new`).
    ///
    /// - Parameter body: Returns true to consume the press.
    package func onPressFirst(_ body: @escaping (_ eventTime: UInt32) -> Bool) {
        let gesture = unsafe Widget.adopting(gtk_gesture_click_new())
        let address = unsafe gesture.address
        unsafe gtk_event_controller_set_propagation_phase(address, GTK_PHASE_CAPTURE)
        Signals.connectPress(gesture, "pressed") {
            // The gesture outlives its own callbacks.
            let isTaken = body(unsafe gtk_event_controller_get_current_event_time(address))
            unsafe gtk_gesture_set_state(address, isTaken ? GTK_EVENT_SEQUENCE_CLAIMED : GTK_EVENT_SEQUENCE_DENIED)
        }
        take(gesture)
    }

    /// Handles a horizontal swipe; a distance to the left is negative (`gtk_gesture_drag_new`).
    ///
    /// - Parameters:
    ///   - lengthMin: The minimum distance in pixels; shorter or more vertical movements have no effect.
    ///   - body: Called at the end of the swipe. A movement beyond the tolerance of a click also cancels the click.
    package func onStroke(atLeast lengthMin: Double, _ body: @escaping (_ across: Double) -> Void) {
        let gesture = unsafe Widget.adopting(gtk_gesture_drag_new())
        let address = unsafe gesture.address
        Signals.connectPoint(gesture, "drag-update") { across, down in
            let isAcross = abs(across) >= 2 * abs(down)
            guard max(abs(across), abs(down)) > Self.trembling else { return }
            // A vertical movement of a finger scrolls, so another gesture claims it. The gesture outlives its own
            // callbacks.
            let device = unsafe gtk_event_controller_get_current_event_device(address)
            let isFinger = unsafe device.map { unsafe gdk_device_get_source($0) == GDK_SOURCE_TOUCHSCREEN } ?? false
            if isAcross || !isFinger { unsafe gtk_gesture_set_state(address, GTK_EVENT_SEQUENCE_CLAIMED) }
        }
        Signals.connectPoint(gesture, "drag-end") { across, down in
            if abs(across) >= max(lengthMin, 2 * abs(down)) { body(across) }
        }
        take(gesture)
    }

    /// The distance in pixels that a pointer may move during a click.
    private static let trembling = 12.0

    /// Calls the body when the keyboard focus enters the widget (`gtk_event_controller_focus_new`).
    package func onFocusEntering(_ body: @escaping () -> Void) {
        let controller = unsafe Widget.adopting(gtk_event_controller_focus_new())
        Signals.connect(controller, "enter", body)
        take(controller)
    }

    /// Calls the body when the keyboard focus leaves the widget (`gtk_event_controller_focus_new`).
    package func onFocusLeaving(_ body: @escaping () -> Void) {
        let controller = unsafe Widget.adopting(gtk_event_controller_focus_new())
        Signals.connect(controller, "leave", body)
        take(controller)
    }

    /// Moves the focus to the next focusable widget after this widget and its descendants, or to the previous one.
    ///
    /// Calls `gtk_widget_child_focus` on the root while this widget cannot get the focus.
    package func moveFocusOut(isBack: Bool) {
        guard let root = unsafe gtk_widget_get_root(cast()) else { return }
        unsafe gtk_widget_set_can_focus(cast(), 0)
        unsafe _ = gtk_widget_child_focus(Widget(root).cast(), isBack ? GTK_DIR_TAB_BACKWARD : GTK_DIR_TAB_FORWARD)
        unsafe gtk_widget_set_can_focus(cast(), 1)
    }

    /// Calls the body after a click on the widget (`gtk_gesture_click_new`).
    package func onPress(_ body: @escaping () -> Void) {
        let gesture = unsafe Widget.adopting(gtk_gesture_click_new())
        Signals.connectPress(gesture, "released", body)
        take(gesture)
    }

    /// Redirects text typed in the widget to a search entry (`gtk_search_entry_set_key_capture_widget`).
    package func captureTyping(for entry: Widget) {
        unsafe gtk_search_entry_set_key_capture_widget(entry.address, cast())
    }
}
