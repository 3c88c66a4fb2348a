// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

extension Widget {
    /// Sets whether the pointer and the keyboard reach the widget and its descendants.
    package func setReachable(_ isReachable: Bool) {
        unsafe gtk_widget_set_can_target(cast(), isReachable ? 1 : 0)
        unsafe gtk_widget_set_can_focus(cast(), isReachable ? 1 : 0)
    }

    /// Sets whether the widget itself can get the focus (`gtk_widget_set_focusable`).
    func setFocusable(_ isFocusable: Bool) { unsafe gtk_widget_set_focusable(cast(), isFocusable ? 1 : 0) }

    /// Moves the focus to the widget with `gtk_widget_grab_focus`; returns false if that fails.
    @discardableResult
    package func focus() -> Bool { unsafe gtk_widget_grab_focus(cast()) != 0 }

    /// Moves the focus to the first descendant that can get it (`gtk_widget_child_focus`).
    package func focusFirst() { unsafe _ = gtk_widget_child_focus(cast(), GTK_DIR_TAB_FORWARD) }

    /// Returns whether a widget is a descendant (`gtk_widget_is_ancestor`).
    package func contains(_ other: Widget) -> Bool { unsafe gtk_widget_is_ancestor(other.cast(), cast()) != 0 }

    /// Whether the keyboard focus is on the widget or a descendant.
    package var containsFocus: Bool {
        unsafe gtk_widget_is_focus(cast()) != 0 || gtk_widget_get_focus_child(cast()) != nil
    }

    /// Moves the focus to the next focusable widget after this widget and its descendants, or to the previous one.
    ///
    /// Calls `gtk_widget_child_focus` on the root while this widget cannot get the focus.
    func moveFocusOut(isBack: Bool) {
        guard let root = unsafe gtk_widget_get_root(cast()) else { return }
        unsafe gtk_widget_set_can_focus(cast(), 0)
        unsafe _ = gtk_widget_child_focus(Widget(root).cast(), isBack ? GTK_DIR_TAB_BACKWARD : GTK_DIR_TAB_FORWARD)
        unsafe gtk_widget_set_can_focus(cast(), 1)
    }

    /// Calls the body when the keyboard focus enters the widget (`gtk_event_controller_focus_new`).
    package func onFocusEntering(_ body: @escaping () -> Void) {
        let controller = unsafe NativeObject(adopting: gtk_event_controller_focus_new())
        Signals.connect(controller, "enter", body)
        take(controller)
    }

    /// Calls the body when the keyboard focus leaves the widget (`gtk_event_controller_focus_new`).
    func onFocusLeaving(_ body: @escaping () -> Void) {
        let controller = unsafe NativeObject(adopting: gtk_event_controller_focus_new())
        Signals.connect(controller, "leave", body)
        take(controller)
    }

    /// Adds a controller with `gtk_widget_add_controller`, which takes ownership of a reference.
    func take(_ controller: NativeObject) {
        unsafe g_object_ref(UnsafeMutableRawPointer(controller.address))
        unsafe gtk_widget_add_controller(cast(), controller.address)
    }
}
