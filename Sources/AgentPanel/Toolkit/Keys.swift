// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// What the keyboard and gestures do.
enum Keys {
    /// Pressing these keys does this wherever the focus is in the window (`gtk_shortcut_controller_new`).
    ///
    /// - Parameters:
    ///   - window: The window, or a part of it: then the focus must be in that.
    ///   - trigger: As GTK writes keys, for example `<Control>f`; several with `|` between them.
    ///   - isLocal: Whether the focus must be in the widget.
    ///   - body: Whether it was dealt with.
    static func on(_ window: Widget, _ trigger: String, isLocal: Bool = false, _ body: @escaping () -> Bool) {
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
    /// `gtk_widget_add_controller`, which takes a reference over.
    func take(_ controller: Widget) {
        unsafe g_object_ref(UnsafeMutableRawPointer(controller.address))
        unsafe gtk_widget_add_controller(cast(), controller.address)
    }

    /// Every key before anything else in the widget gets it (`gtk_event_controller_key_new`).
    func onKeyFirst(_ body: @escaping (_ key: UInt32, _ modifiers: UInt32) -> Bool) {
        let controller = unsafe Widget.adopting(gtk_event_controller_key_new())
        unsafe gtk_event_controller_set_propagation_phase(controller.address, GTK_PHASE_CAPTURE)
        Signals.connectKey(controller, body)
        take(controller)
    }

    /// Every key before anything else in the widget gets it, down and up (`gtk_event_controller_key_new`).
    ///
    /// - Parameters:
    ///   - down: Whether nothing else may get it; a key that is held comes again and again.
    ///   - up: It is let go.
    func onKeyFirst(
        down: @escaping (_ code: UInt32, _ symbol: UInt32, _ eventTime: UInt32) -> Bool,
        up: @escaping (_ code: UInt32) -> Void
    ) {
        let controller = unsafe Widget.adopting(gtk_event_controller_key_new())
        let address = unsafe controller.address
        unsafe gtk_event_controller_set_propagation_phase(address, GTK_PHASE_CAPTURE)
        // The controller lives while it calls.
        Signals.connectKeyDown(controller) {
            down($0, $1, unsafe gtk_event_controller_get_current_event_time(address))
        }
        Signals.connectKeyUp(controller, up)
        take(controller)
    }

    /// Every press of the pointer or a finger before anything else in the widget gets it (`gtk_gesture_click_new`).
    ///
    /// - Parameter body: Whether nothing else may get it.
    func onPressFirst(_ body: @escaping (_ eventTime: UInt32) -> Bool) {
        let gesture = unsafe Widget.adopting(gtk_gesture_click_new())
        let address = unsafe gesture.address
        unsafe gtk_event_controller_set_propagation_phase(address, GTK_PHASE_CAPTURE)
        Signals.connectPress(gesture, "pressed") {
            // The gesture lives while it calls.
            let isTaken = body(unsafe gtk_event_controller_get_current_event_time(address))
            unsafe gtk_gesture_set_state(address, isTaken ? GTK_EVENT_SEQUENCE_CLAIMED : GTK_EVENT_SEQUENCE_DENIED)
        }
        take(gesture)
    }

    /// A stroke across the widget; the way is negative towards the left (`gtk_gesture_drag_new`).
    ///
    /// - Parameters:
    ///   - lengthMin: Shorter ones do nothing, and neither does what goes up or down as well.
    ///   - body: Called when it ends. Whoever moves more than a hand trembles presses nothing.
    func onStroke(atLeast lengthMin: Double, _ body: @escaping (_ across: Double) -> Void) {
        let gesture = unsafe Widget.adopting(gtk_gesture_drag_new())
        let address = unsafe gesture.address
        Signals.connectPoint(gesture, "drag-update") { across, down in
            let isAcross = abs(across) >= 2 * abs(down)
            guard max(abs(across), abs(down)) > Self.trembling else { return }
            // A finger that goes up or down scrolls, which is another's to claim. The gesture lives while it calls.
            let device = unsafe gtk_event_controller_get_current_event_device(address)
            let isFinger = unsafe device.map { unsafe gdk_device_get_source($0) == GDK_SOURCE_TOUCHSCREEN } ?? false
            if isAcross || !isFinger { unsafe gtk_gesture_set_state(address, GTK_EVENT_SEQUENCE_CLAIMED) }
        }
        Signals.connectPoint(gesture, "drag-end") { across, down in
            if abs(across) >= max(lengthMin, 2 * abs(down)) { body(across) }
        }
        take(gesture)
    }

    /// How far a press may move, in pixels.
    private static let trembling = 12.0

    /// The keyboard's focus comes into the widget (`gtk_event_controller_focus_new`).
    func onFocusEntering(_ body: @escaping () -> Void) {
        let controller = unsafe Widget.adopting(gtk_event_controller_focus_new())
        Signals.connect(controller, "enter", body)
        take(controller)
    }

    /// The keyboard's focus leaves the widget (`gtk_event_controller_focus_new`).
    func onFocusLeaving(_ body: @escaping () -> Void) {
        let controller = unsafe Widget.adopting(gtk_event_controller_focus_new())
        Signals.connect(controller, "leave", body)
        take(controller)
    }

    /// Gives the focus to what comes in its window after the widget and all that is in it, or before.
    ///
    /// `gtk_widget_child_focus`, while the widget takes no focus.
    func moveFocusOut(isBack: Bool) {
        guard let root = unsafe gtk_widget_get_root(cast()) else { return }
        unsafe gtk_widget_set_can_focus(cast(), 0)
        unsafe _ = gtk_widget_child_focus(Widget(root).cast(), isBack ? GTK_DIR_TAB_BACKWARD : GTK_DIR_TAB_FORWARD)
        unsafe gtk_widget_set_can_focus(cast(), 1)
    }

    /// A press of the pointer on the widget (`gtk_gesture_click_new`).
    func onPress(_ body: @escaping () -> Void) {
        let gesture = unsafe Widget.adopting(gtk_gesture_click_new())
        Signals.connectPress(gesture, "released", body)
        take(gesture)
    }

    /// What is typed anywhere in the widget goes to a search entry (`gtk_search_entry_set_key_capture_widget`).
    func captureTyping(for entry: Widget) { unsafe gtk_search_entry_set_key_capture_widget(entry.address, cast()) }
}
