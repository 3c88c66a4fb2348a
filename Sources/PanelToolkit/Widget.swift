// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// An object of GTK, libadwaita or GIO; owns one reference.
///
/// Its methods are in extensions by topic. Their comments name the C functions.
@safe
package final class Widget {
    /// The object's address, never nil, because the libraries stop the process when memory runs out.
    let address: OpaquePointer

    /// Takes the floating reference of a new widget, or adds a reference to a borrowed object (`g_object_ref_sink`).
    init(_ address: OpaquePointer?) {
        guard let address = unsafe address else { preconditionFailure("GTK returned no object") }
        unsafe self.address = address
        unsafe g_object_ref_sink(UnsafeMutableRawPointer(address))
    }

    /// Wraps an object of a class whose layout Swift knows, as the other initializer does.
    convenience init<Object>(_ object: UnsafeMutablePointer<Object>?) { unsafe self.init(OpaquePointer(object)) }

    /// Takes ownership of the reference of a new object that is not a widget.
    static func adopting(_ address: OpaquePointer?) -> Widget {
        let object = unsafe Widget(address)
        unsafe g_object_unref(UnsafeMutableRawPointer(object.address))
        return object
    }

    deinit { unsafe g_object_unref(UnsafeMutableRawPointer(address)) }

    /// Casts the pointer, as GTK's cast macros do, which Swift cannot import.
    func cast<Object>() -> UnsafeMutablePointer<Object> { unsafe UnsafeMutablePointer<Object>(address) }

    // MARK: Common to all widgets

    /// Whether the widget is visible (`gtk_widget_set_visible`).
    package var isVisible: Bool {
        get { unsafe gtk_widget_get_visible(cast()) != 0 }
        set { unsafe gtk_widget_set_visible(cast(), newValue ? 1 : 0) }
    }

    /// Whether the widget reacts to input (`gtk_widget_set_sensitive`).
    package var isSensitive: Bool {
        get { unsafe gtk_widget_get_sensitive(cast()) != 0 }
        set { unsafe gtk_widget_set_sensitive(cast(), newValue ? 1 : 0) }
    }

    /// Sets whether the pointer and the keyboard reach the widget and its descendants.
    package func setReachable(_ isReachable: Bool) {
        unsafe gtk_widget_set_can_target(cast(), isReachable ? 1 : 0)
        unsafe gtk_widget_set_can_focus(cast(), isReachable ? 1 : 0)
    }

    /// Sets whether the widget itself can get the focus (`gtk_widget_set_focusable`).
    package func setFocusable(_ isFocusable: Bool) { unsafe gtk_widget_set_focusable(cast(), isFocusable ? 1 : 0) }

    /// Moves the focus to the widget with `gtk_widget_grab_focus`; returns false if that fails.
    @discardableResult
    package func focus() -> Bool { unsafe gtk_widget_grab_focus(cast()) != 0 }

    /// Moves the focus to the first descendant that can get it (`gtk_widget_child_focus`).
    package func focusFirst() { unsafe _ = gtk_widget_child_focus(cast(), GTK_DIR_TAB_FORWARD) }

    /// Whether the keyboard focus is on the widget or a descendant.
    package var containsFocus: Bool {
        unsafe gtk_widget_is_focus(cast()) != 0 || gtk_widget_get_focus_child(cast()) != nil
    }

    /// The focused widget of a window (`gtk_window_get_focus`).
    package var focusedWidget: Widget? { unsafe gtk_window_get_focus(cast()).map { unsafe Widget($0) } }

    /// Whether the widget is on the screen (`gtk_widget_get_mapped`).
    package var isMapped: Bool { unsafe gtk_widget_get_mapped(cast()) != 0 }

    /// The natural height in pixels (`gtk_widget_measure`).
    package var naturalHeight: Int {
        var height: Int32 = 0
        unsafe gtk_widget_measure(cast(), GTK_ORIENTATION_VERTICAL, -1, nil, &height, nil, nil)
        return Int(height)
    }

    /// The current size in pixels (`gtk_widget_get_width`, `gtk_widget_get_height`).
    package var size: (width: Int, height: Int) {
        unsafe (Int(gtk_widget_get_width(cast())), Int(gtk_widget_get_height(cast())))
    }

    /// Adds CSS classes with `gtk_widget_add_css_class`.
    @discardableResult
    package func styled(_ classes: String...) -> Widget {
        for name in classes { unsafe gtk_widget_add_css_class(cast(), name) }
        return self
    }

    /// Adds or removes a CSS class.
    package func setStyle(_ name: String, _ isOn: Bool) {
        if isOn {
            unsafe gtk_widget_add_css_class(cast(), name)
        } else {
            unsafe gtk_widget_remove_css_class(cast(), name)
        }
    }

    /// Lets the widget fill extra space (`gtk_widget_set_hexpand`, `gtk_widget_set_vexpand`).
    @discardableResult
    package func expanding(across: Bool = false, down: Bool = false) -> Widget {
        unsafe gtk_widget_set_hexpand(cast(), across ? 1 : 0)
        unsafe gtk_widget_set_vexpand(cast(), down ? 1 : 0)
        return self
    }

    /// The alignment of a widget in more space than it needs.
    package enum Place {
        case fill, start, center, end

        fileprivate var alignment: GtkAlign {
            switch self {
            case .fill: GTK_ALIGN_FILL
            case .start: GTK_ALIGN_START
            case .center: GTK_ALIGN_CENTER
            case .end: GTK_ALIGN_END
            }
        }
    }

    /// Sets the alignment (`gtk_widget_set_halign`, `gtk_widget_set_valign`).
    @discardableResult
    package func placed(across: Place = .fill, down: Place = .fill) -> Widget {
        unsafe gtk_widget_set_halign(cast(), across.alignment)
        unsafe gtk_widget_set_valign(cast(), down.alignment)
        return self
    }

    /// Sets the minimum size (`gtk_widget_set_size_request`); -1 keeps the widget's own.
    @discardableResult
    package func sized(width: Int = -1, height: Int = -1) -> Widget {
        unsafe gtk_widget_set_size_request(cast(), Int32(clamping: width), Int32(clamping: height))
        return self
    }

    /// Sets the margins (`gtk_widget_set_margin_start` and related functions).
    @discardableResult
    package func padded(across: Int = 0, above: Int = 0, below: Int = 0) -> Widget {
        unsafe gtk_widget_set_margin_start(cast(), Int32(across))
        unsafe gtk_widget_set_margin_end(cast(), Int32(across))
        unsafe gtk_widget_set_margin_top(cast(), Int32(above))
        unsafe gtk_widget_set_margin_bottom(cast(), Int32(below))
        return self
    }

    /// Fixes the direction to left-to-right, whatever the language (`gtk_widget_set_direction`).
    @discardableResult
    package func leftToRight() -> Widget {
        unsafe gtk_widget_set_direction(cast(), GTK_TEXT_DIR_LTR)
        return self
    }

    /// Sets the tooltip (`gtk_widget_set_tooltip_text`).
    @discardableResult
    package func hinted(_ text: String) -> Widget {
        unsafe gtk_widget_set_tooltip_text(cast(), text)
        return self
    }

    /// Sets the opacity from 0 to 1 with `gtk_widget_set_opacity`.
    package func setOpacity(_ opacity: Double) { unsafe gtk_widget_set_opacity(cast(), opacity) }

    /// The parent widget (`gtk_widget_get_parent`).
    package var parent: Widget? { unsafe gtk_widget_get_parent(cast()).map { unsafe Widget($0) } }
}
