// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

extension Widget {
    /// Calls the body after a click on the widget (`gtk_gesture_click_new`).
    package func onPress(_ body: @escaping () -> Void) {
        let gesture = unsafe NativeObject(adopting: gtk_gesture_click_new())
        Signals.connectPress(gesture, "released", body)
        take(gesture)
    }

    /// Handles every press of the pointer or a finger before the widget's descendants (`gtk_gesture_click_new`).
    ///
    /// - Parameter body: Returns true to consume the press.
    package func onPressFirst(_ body: @escaping (_ eventTime: UInt32) -> Bool) {
        let gesture = unsafe NativeObject(adopting: gtk_gesture_click_new())
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
        let gesture = unsafe NativeObject(adopting: gtk_gesture_drag_new())
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
    private static var trembling: Double { 12 }
}
