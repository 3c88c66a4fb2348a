// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// An object of GTK, libadwaita or GIO; owns one reference.
///
/// What it can do is in the extensions by topic, and each comment names the C function.
@safe
final class Widget {
    /// Never nil, because the libraries stop the process when memory runs out.
    let address: OpaquePointer

    /// Takes the floating reference of a new widget (`g_object_ref_sink`), or one more of an object that GTK lends.
    init(_ address: OpaquePointer?) {
        guard let address = unsafe address else { preconditionFailure("GTK made nothing") }
        unsafe self.address = address
        unsafe g_object_ref_sink(UnsafeMutableRawPointer(address))
    }

    /// The same for a class of which Swift knows the layout.
    convenience init<Object>(_ object: UnsafeMutablePointer<Object>?) { unsafe self.init(OpaquePointer(object)) }

    /// Takes over the reference of a new object that is no widget.
    static func adopting(_ address: OpaquePointer?) -> Widget {
        let object = unsafe Widget(address)
        unsafe g_object_unref(UnsafeMutableRawPointer(object.address))
        return object
    }

    deinit { unsafe g_object_unref(UnsafeMutableRawPointer(address)) }

    /// GTK's cast macros, which cannot be imported: every object is one pointer.
    func cast<Object>() -> UnsafeMutablePointer<Object> { unsafe UnsafeMutablePointer<Object>(address) }

    // MARK: What every widget has

    /// `gtk_widget_set_visible`.
    var isVisible: Bool {
        get { unsafe gtk_widget_get_visible(cast()) != 0 }
        set { unsafe gtk_widget_set_visible(cast(), newValue ? 1 : 0) }
    }

    /// `gtk_widget_set_sensitive`.
    var isSensitive: Bool {
        get { unsafe gtk_widget_get_sensitive(cast()) != 0 }
        set { unsafe gtk_widget_set_sensitive(cast(), newValue ? 1 : 0) }
    }

    /// Whether the pointer and the keyboard reach it and what it contains.
    func setReachable(_ isReachable: Bool) {
        unsafe gtk_widget_set_can_target(cast(), isReachable ? 1 : 0)
        unsafe gtk_widget_set_can_focus(cast(), isReachable ? 1 : 0)
    }

    /// `gtk_widget_set_focusable`.
    func setFocusable(_ isFocusable: Bool) { unsafe gtk_widget_set_focusable(cast(), isFocusable ? 1 : 0) }

    /// `gtk_widget_grab_focus`.
    @discardableResult
    func focus() -> Bool { unsafe gtk_widget_grab_focus(cast()) != 0 }

    /// Gives the focus to the first widget in it that takes it (`gtk_widget_child_focus`).
    func focusFirst() { unsafe _ = gtk_widget_child_focus(cast(), GTK_DIR_TAB_FORWARD) }

    /// Whether the keyboard's focus is on it or in it.
    var containsFocus: Bool {
        unsafe gtk_widget_is_focus(cast()) != 0 || gtk_widget_get_focus_child(cast()) != nil
    }

    /// What has the focus in a window (`gtk_window_get_focus`).
    var focusedWidget: Widget? { unsafe gtk_window_get_focus(cast()).map { unsafe Widget($0) } }

    /// `gtk_widget_get_mapped`: whether it is on the screen.
    var isMapped: Bool { unsafe gtk_widget_get_mapped(cast()) != 0 }

    /// The height that it would like to have (`gtk_widget_measure`).
    var naturalHeight: Int {
        var height: Int32 = 0
        unsafe gtk_widget_measure(cast(), GTK_ORIENTATION_VERTICAL, -1, nil, &height, nil, nil)
        return Int(height)
    }

    /// `gtk_widget_get_width` and `gtk_widget_get_height`.
    var size: (width: Int, height: Int) {
        unsafe (Int(gtk_widget_get_width(cast())), Int(gtk_widget_get_height(cast())))
    }

    /// `gtk_widget_add_css_class` for each.
    @discardableResult
    func styled(_ classes: String...) -> Widget {
        for name in classes { unsafe gtk_widget_add_css_class(cast(), name) }
        return self
    }

    /// Adds or removes one class.
    func setStyle(_ name: String, _ isOn: Bool) {
        if isOn {
            unsafe gtk_widget_add_css_class(cast(), name)
        } else {
            unsafe gtk_widget_remove_css_class(cast(), name)
        }
    }

    /// `gtk_widget_set_hexpand` and `gtk_widget_set_vexpand`.
    @discardableResult
    func expanding(across: Bool = false, down: Bool = false) -> Widget {
        unsafe gtk_widget_set_hexpand(cast(), across ? 1 : 0)
        unsafe gtk_widget_set_vexpand(cast(), down ? 1 : 0)
        return self
    }

    /// Where it stands in more space than it needs.
    enum Place {
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

    /// `gtk_widget_set_halign` and `gtk_widget_set_valign`.
    @discardableResult
    func placed(across: Place = .fill, down: Place = .fill) -> Widget {
        unsafe gtk_widget_set_halign(cast(), across.alignment)
        unsafe gtk_widget_set_valign(cast(), down.alignment)
        return self
    }

    /// The least size (`gtk_widget_set_size_request`); -1 leaves it to the widget.
    @discardableResult
    func sized(width: Int = -1, height: Int = -1) -> Widget {
        unsafe gtk_widget_set_size_request(cast(), Int32(clamping: width), Int32(clamping: height))
        return self
    }

    /// Space around it (`gtk_widget_set_margin_start` and the like).
    @discardableResult
    func padded(across: Int = 0, above: Int = 0, below: Int = 0) -> Widget {
        unsafe gtk_widget_set_margin_start(cast(), Int32(across))
        unsafe gtk_widget_set_margin_end(cast(), Int32(across))
        unsafe gtk_widget_set_margin_top(cast(), Int32(above))
        unsafe gtk_widget_set_margin_bottom(cast(), Int32(below))
        return self
    }

    /// Keeps left left and right right, whatever the language (`gtk_widget_set_direction`).
    @discardableResult
    func leftToRight() -> Widget {
        unsafe gtk_widget_set_direction(cast(), GTK_TEXT_DIR_LTR)
        return self
    }

    /// What appears under a resting pointer (`gtk_widget_set_tooltip_text`).
    @discardableResult
    func hinted(_ text: String) -> Widget {
        unsafe gtk_widget_set_tooltip_text(cast(), text)
        return self
    }

    /// `gtk_widget_set_opacity`.
    func setOpacity(_ opacity: Double) { unsafe gtk_widget_set_opacity(cast(), opacity) }

    /// `gtk_widget_get_parent`.
    var parent: Widget? { unsafe gtk_widget_get_parent(cast()).map { unsafe Widget($0) } }
}
