// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// Widgets that hold others.
extension Widget {
    /// `gtk_box_new`: side by side.
    static func row(spacing: Int = 0, _ children: Widget...) -> Widget {
        let box = unsafe Widget(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, Int32(spacing)))
        for child in children { box.append(child) }
        return box
    }

    /// A row of tabs, as a screen reader knows them.
    static func tabRow(spacing: Int) -> Widget {
        let box = make(gtk_box_get_type(), role: GTK_ACCESSIBLE_ROLE_TAB_LIST)
        unsafe gtk_box_set_spacing(box.cast(), Int32(spacing))
        return box
    }

    /// `gtk_box_new`: one below the other.
    static func column(spacing: Int = 0, _ children: Widget...) -> Widget {
        let box = unsafe Widget(gtk_box_new(GTK_ORIENTATION_VERTICAL, Int32(spacing)))
        for child in children { box.append(child) }
        return box
    }

    /// `gtk_orientable_set_orientation` of a box.
    func turnBox(isRow: Bool) {
        unsafe gtk_orientable_set_orientation(address, isRow ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL)
    }

    /// `gtk_box_append`.
    func append(_ child: Widget) { unsafe gtk_box_append(cast(), child.cast()) }

    /// `gtk_box_remove`.
    func remove(_ child: Widget) { unsafe gtk_box_remove(cast(), child.cast()) }

    /// The first and the last child of any widget (`gtk_widget_get_first_child`).
    var firstChild: Widget? { unsafe gtk_widget_get_first_child(cast()).map { unsafe Widget($0) } }
    var lastChild: Widget? { unsafe gtk_widget_get_last_child(cast()).map { unsafe Widget($0) } }

    /// Empties a box.
    func removeAllFromBox() {
        while let child = firstChild { remove(child) }
    }

    /// `gtk_window_handle_new`: dragging the child drags the window.
    static func handle(_ child: Widget) -> Widget {
        let handle = unsafe Widget(gtk_window_handle_new())
        unsafe gtk_window_handle_set_child(handle.address, child.cast())
        return handle
    }

    /// `gtk_box_set_homogeneous`: all children of the same size.
    @discardableResult
    func homogeneous() -> Widget {
        setHomogeneous(true)
        return self
    }

    /// `gtk_box_set_homogeneous`.
    func setHomogeneous(_ isHomogeneous: Bool) { unsafe gtk_box_set_homogeneous(cast(), isHomogeneous ? 1 : 0) }

    /// `gtk_scrolled_window_new`: scrolls down, never across.
    static func scroller(_ child: Widget) -> Widget {
        let scroller = unsafe Widget(gtk_scrolled_window_new())
        unsafe gtk_scrolled_window_set_policy(scroller.address, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        unsafe gtk_scrolled_window_set_child(scroller.address, child.cast())
        return scroller
    }

    /// As high as its child is at this width (`gtk_widget_measure`), up to a bound.
    ///
    /// The scroller's own natural height is that of texts on one line. The keyboard goes to it where there is something to
    /// scroll.
    func fitScroller(to child: Widget, width: Int, heightMax: Int) {
        var natural: Int32 = 0
        unsafe gtk_widget_measure(child.cast(), GTK_ORIENTATION_VERTICAL, Int32(width), nil, &natural, nil, nil)
        let height = min(natural, Int32(heightMax))
        unsafe gtk_scrolled_window_set_max_content_height(address, -1)
        unsafe gtk_scrolled_window_set_min_content_height(address, height)
        unsafe gtk_scrolled_window_set_max_content_height(address, height)
        unsafe gtk_widget_set_can_focus(cast(), natural > height ? 1 : 0)
    }

    /// `gtk_overlay_new`: others can lie over the child.
    static func overlay(_ child: Widget) -> Widget {
        let overlay = unsafe Widget(gtk_overlay_new())
        unsafe gtk_overlay_set_child(overlay.address, child.cast())
        return overlay
    }

    /// `gtk_overlay_add_overlay`.
    func lay(over child: Widget) { unsafe gtk_overlay_add_overlay(address, child.cast()) }

    /// `gtk_overlay_remove_overlay`.
    func takeOff(_ child: Widget) { unsafe gtk_overlay_remove_overlay(address, child.cast()) }

    /// `adw_clamp_new`: no wider than is pleasant to read.
    static func clamp(_ child: Widget, widthMax: Int) -> Widget {
        let clamp = unsafe Widget(adw_clamp_new())
        unsafe adw_clamp_set_maximum_size(clamp.address, Int32(widthMax))
        unsafe adw_clamp_set_tightening_threshold(clamp.address, Int32(widthMax))
        unsafe adw_clamp_set_child(clamp.address, child.cast())
        return clamp
    }

    /// `adw_bin_new`: a place for one widget.
    static func bin() -> Widget { unsafe Widget(adw_bin_new()) }

    /// `adw_bin_set_child`.
    func setContent(_ child: Widget?) { unsafe adw_bin_set_child(cast(), child?.cast()) }

    /// Where a revealed widget comes from.
    enum Edge {
        case below, above, end

        fileprivate var transition: GtkRevealerTransitionType {
            switch self {
            case .below: GTK_REVEALER_TRANSITION_TYPE_SLIDE_UP
            case .above: GTK_REVEALER_TRANSITION_TYPE_SLIDE_DOWN
            case .end: GTK_REVEALER_TRANSITION_TYPE_SLIDE_LEFT
            }
        }
    }

    /// `gtk_revealer_new`: hidden until it is revealed.
    static func revealer(_ child: Widget, from edge: Edge) -> Widget {
        let revealer = unsafe Widget(gtk_revealer_new())
        unsafe gtk_revealer_set_transition_type(revealer.address, edge.transition)
        unsafe gtk_revealer_set_child(revealer.address, child.cast())
        return revealer
    }

    /// `gtk_revealer_set_reveal_child`.
    var isRevealed: Bool {
        get { unsafe gtk_revealer_get_reveal_child(address) != 0 }
        set { unsafe gtk_revealer_set_reveal_child(address, newValue ? 1 : 0) }
    }

    /// `gtk_stack_new`: one of its children is to be seen.
    static func stack(sliding: Bool = false) -> Widget {
        let stack = unsafe Widget(gtk_stack_new())
        let kind = sliding ? GTK_STACK_TRANSITION_TYPE_SLIDE_LEFT_RIGHT : GTK_STACK_TRANSITION_TYPE_NONE
        unsafe gtk_stack_set_transition_type(stack.address, kind)
        unsafe gtk_stack_set_vhomogeneous(stack.address, 0)
        unsafe gtk_stack_set_hhomogeneous(stack.address, 0)
        return stack
    }

    /// `gtk_stack_add_child`; the first is to be seen.
    func addToStack(_ child: Widget) {
        unsafe _ = gtk_stack_add_child(address, child.cast())
        child.setRead(unsafe gtk_stack_get_visible_child(address) == child.cast())
    }

    /// `gtk_stack_remove`.
    func removeFromStack(_ child: Widget) { unsafe gtk_stack_remove(address, child.cast()) }

    /// `gtk_stack_set_visible_child`; GTK itself would let a screen reader read the others, too.
    func show(_ child: Widget) {
        unsafe gtk_stack_get_visible_child(address).map { unsafe Widget($0) }?.setRead(false)
        unsafe gtk_stack_set_visible_child(address, child.cast())
        child.setRead(true)
    }

    /// `gtk_drawing_area_new`: nothing, and yet it has a size; `changed` gets it.
    static func sizeProbe(_ changed: @escaping (_ width: Int, _ height: Int) -> Void) -> Widget {
        let area = unsafe Widget(gtk_drawing_area_new())
        Signals.connectSize(area, "resize", changed)
        return area
    }

    /// `gtk_separator_new`.
    static func line() -> Widget { unsafe Widget(gtk_separator_new(GTK_ORIENTATION_HORIZONTAL)) }
}
