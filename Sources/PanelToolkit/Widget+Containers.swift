// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

extension Widget {
    /// Creates a horizontal `gtk_box_new`.
    package static func row(spacing: Int = 0, _ children: Widget...) -> Widget {
        let box = unsafe Widget(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, Int32(spacing)))
        for child in children { box.append(child) }
        return box
    }

    /// Creates a horizontal box with the accessible role of a tab list.
    package static func tabRow(spacing: Int) -> Widget {
        let box = unsafe Widget(Widget.make(gtk_box_get_type(), role: GTK_ACCESSIBLE_ROLE_TAB_LIST))
        unsafe gtk_box_set_spacing(box.cast(), Int32(spacing))
        return box
    }

    /// Creates a vertical `gtk_box_new`.
    package static func column(spacing: Int = 0, _ children: Widget...) -> Widget {
        let box = unsafe Widget(gtk_box_new(GTK_ORIENTATION_VERTICAL, Int32(spacing)))
        for child in children { box.append(child) }
        return box
    }

    /// Sets the orientation of a box with `gtk_orientable_set_orientation`.
    package func turnBox(isRow: Bool) {
        unsafe gtk_orientable_set_orientation(address, isRow ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL)
    }

    /// Appends a child with `gtk_box_append`.
    package func append(_ child: Widget) { unsafe gtk_box_append(cast(), child.cast()) }

    /// Removes a child with `gtk_box_remove`.
    package func remove(_ child: Widget) { unsafe gtk_box_remove(cast(), child.cast()) }

    /// The last child of any widget (`gtk_widget_get_last_child`).
    package var lastChild: Widget? { unsafe gtk_widget_get_last_child(cast()).map { unsafe Widget($0) } }

    /// Removes all children of a box.
    package func removeAllFromBox() {
        while let child = firstChild { remove(child) }
    }

    /// Creates a `gtk_window_handle_new`: dragging the child drags the window.
    package static func handle(_ child: Widget) -> Widget {
        let handle = unsafe Widget(gtk_window_handle_new())
        unsafe gtk_window_handle_set_child(handle.address, child.cast())
        return handle
    }

    /// Gives all children of a box the same size (`gtk_box_set_homogeneous`).
    @discardableResult
    package func homogeneous() -> Widget {
        setHomogeneous(true)
        return self
    }

    /// Sets whether all children have the same size (`gtk_box_set_homogeneous`).
    package func setHomogeneous(_ isHomogeneous: Bool) { unsafe gtk_box_set_homogeneous(cast(), isHomogeneous ? 1 : 0) }

    /// Creates a `gtk_scrolled_window_new` that only scrolls vertically.
    package static func scroller(_ child: Widget) -> Widget {
        let scroller = unsafe Widget(gtk_scrolled_window_new())
        unsafe gtk_scrolled_window_set_policy(scroller.address, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        unsafe gtk_scrolled_window_set_child(scroller.address, child.cast())
        return scroller
    }

    /// Makes a scroller as high as its child is at this width (`gtk_widget_measure`), up to a maximum.
    ///
    /// The scroller's own natural height assumes that each text takes one line. The scroller can only get the keyboard
    /// focus if its child is higher than the scroller.
    package func fitScroller(to child: Widget, width: Int, heightMax: Int) {
        var natural: Int32 = 0
        unsafe gtk_widget_measure(child.cast(), GTK_ORIENTATION_VERTICAL, Int32(width), nil, &natural, nil, nil)
        let height = min(natural, Int32(heightMax))
        unsafe gtk_scrolled_window_set_max_content_height(address, -1)
        unsafe gtk_scrolled_window_set_min_content_height(address, height)
        unsafe gtk_scrolled_window_set_max_content_height(address, height)
        unsafe gtk_widget_set_can_focus(cast(), natural > height ? 1 : 0)
    }

    /// Creates a `gtk_overlay_new` with a main child.
    package static func overlay(_ child: Widget) -> Widget {
        let overlay = unsafe Widget(gtk_overlay_new())
        unsafe gtk_overlay_set_child(overlay.address, child.cast())
        return overlay
    }

    /// Adds a child on top with `gtk_overlay_add_overlay`.
    package func lay(over child: Widget) { unsafe gtk_overlay_add_overlay(address, child.cast()) }

    /// Removes a child that was on top with `gtk_overlay_remove_overlay`.
    package func takeOff(_ child: Widget) { unsafe gtk_overlay_remove_overlay(address, child.cast()) }

    /// Creates an `adw_clamp_new` that limits the width of its child.
    package static func clamp(_ child: Widget, widthMax: Int) -> Widget {
        let clamp = unsafe Widget(adw_clamp_new())
        unsafe adw_clamp_set_maximum_size(clamp.address, Int32(widthMax))
        unsafe adw_clamp_set_tightening_threshold(clamp.address, Int32(widthMax))
        unsafe adw_clamp_set_child(clamp.address, child.cast())
        return clamp
    }

    /// Creates an `adw_bin_new`, which holds one widget.
    package static func bin() -> Widget { unsafe Widget(adw_bin_new()) }

    /// Replaces the child of a bin with `adw_bin_set_child`.
    package func setContent(_ child: Widget?) { unsafe adw_bin_set_child(cast(), child?.cast()) }

    /// The direction from which a revealed widget slides in.
    package enum Edge {
        case below, above, end

        fileprivate var transition: GtkRevealerTransitionType {
            switch self {
            case .below: GTK_REVEALER_TRANSITION_TYPE_SLIDE_UP
            case .above: GTK_REVEALER_TRANSITION_TYPE_SLIDE_DOWN
            case .end: GTK_REVEALER_TRANSITION_TYPE_SLIDE_LEFT
            }
        }
    }

    /// Creates a `gtk_revealer_new` with a hidden child.
    package static func revealer(_ child: Widget, from edge: Edge) -> Widget {
        let revealer = unsafe Widget(gtk_revealer_new())
        unsafe gtk_revealer_set_transition_type(revealer.address, edge.transition)
        unsafe gtk_revealer_set_child(revealer.address, child.cast())
        return revealer
    }

    /// Whether a revealer shows its child (`gtk_revealer_set_reveal_child`).
    package var isRevealed: Bool {
        get { unsafe gtk_revealer_get_reveal_child(address) != 0 }
        set { unsafe gtk_revealer_set_reveal_child(address, newValue ? 1 : 0) }
    }

    /// Creates a `gtk_stack_new`, which shows one of its children.
    package static func stack(sliding: Bool = false) -> Widget {
        let stack = unsafe Widget(gtk_stack_new())
        let kind = sliding ? GTK_STACK_TRANSITION_TYPE_SLIDE_LEFT_RIGHT : GTK_STACK_TRANSITION_TYPE_NONE
        unsafe gtk_stack_set_transition_type(stack.address, kind)
        unsafe gtk_stack_set_vhomogeneous(stack.address, 0)
        unsafe gtk_stack_set_hhomogeneous(stack.address, 0)
        return stack
    }

    /// Adds a child with `gtk_stack_add_child`; the first child is visible.
    package func addToStack(_ child: Widget) {
        unsafe _ = gtk_stack_add_child(address, child.cast())
        child.setRead(unsafe gtk_stack_get_visible_child(address) == child.cast())
    }

    /// Removes a child with `gtk_stack_remove`.
    package func removeFromStack(_ child: Widget) { unsafe gtk_stack_remove(address, child.cast()) }

    /// Shows a child with `gtk_stack_set_visible_child`; also hides the others from screen readers, unlike GTK.
    package func show(_ child: Widget) {
        unsafe gtk_stack_get_visible_child(address).map { unsafe Widget($0) }?.setRead(false)
        unsafe gtk_stack_set_visible_child(address, child.cast())
        child.setRead(true)
    }

    /// Creates an empty `gtk_drawing_area_new` that reports its size to `changed`.
    package static func sizeProbe(_ changed: @escaping (_ width: Int, _ height: Int) -> Void) -> Widget {
        let area = unsafe Widget(gtk_drawing_area_new())
        Signals.connectSize(area, "resize", changed)
        return area
    }

    /// Creates a separator with `gtk_separator_new`.
    package static func line() -> Widget { unsafe Widget(gtk_separator_new(GTK_ORIENTATION_HORIZONTAL)) }
}
