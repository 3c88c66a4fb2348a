// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita
internal import PushCore

/// Texts, pictures and what is typed.
extension Widget {
    /// How a label deals with more text than fits.
    enum Fit {
        /// On as many lines as it takes.
        case wrapped
        /// Cut at the end of so many lines.
        case cut(lines: Int)
        /// On one line, for which there must be room.
        case whole
    }

    /// `gtk_label_new`: a text as it is, never markup.
    static func label(_ text: String, _ fit: Fit = .wrapped) -> Widget {
        let label = unsafe Widget(gtk_label_new(""))
        switch fit {
        case .wrapped:
            unsafe gtk_label_set_wrap(label.address, 1)
        case .cut(let lines):
            unsafe gtk_label_set_ellipsize(label.address, PANGO_ELLIPSIZE_END)
            unsafe gtk_label_set_lines(label.address, Int32(lines))
            unsafe gtk_label_set_wrap(label.address, lines > 1 ? 1 : 0)
            unsafe gtk_label_set_single_line_mode(label.address, lines > 1 ? 0 : 1)
        case .whole: break
        }
        if unsafe gtk_label_get_wrap(label.address) != 0 { label.boundLabel() }
        unsafe gtk_label_set_wrap_mode(label.address, PANGO_WRAP_WORD_CHAR)
        label.setText(text)
        return label.atStart()
    }

    /// `gtk_label_set_text`, without what no widget may show.
    func setText(_ text: String) { unsafe gtk_label_set_text(address, DisplayText.plain(text)) }

    /// Text begins where the language begins.
    @discardableResult
    func atStart() -> Widget {
        unsafe gtk_label_set_xalign(address, 0)
        unsafe gtk_label_set_justify(address, GTK_JUSTIFY_LEFT)
        return self
    }

    /// Text in the middle.
    @discardableResult
    func centred() -> Widget {
        unsafe gtk_label_set_xalign(address, 0.5)
        unsafe gtk_label_set_justify(address, GTK_JUSTIFY_CENTER)
        return self
    }

    /// The person can select and copy it.
    @discardableResult
    func selectable() -> Widget {
        unsafe gtk_label_set_selectable(address, 1)
        return self
    }

    /// `gtk_image_new_from_icon_name`.
    static func symbol(_ name: String, pixels: Int = 16) -> Widget {
        let image = unsafe Widget(gtk_image_new_from_icon_name(name))
        unsafe gtk_image_set_pixel_size(image.address, Int32(pixels))
        return image.unread()
    }

    /// `gtk_image_set_from_icon_name`.
    func setSymbol(_ name: String) { unsafe gtk_image_set_from_icon_name(address, name) }

    /// An app's icon: the file or the theme's; without one its initials, which differ from app to app.
    static func appIcon(_ icon: String, of name: String, pixels: Int) -> Widget {
        if icon.hasPrefix("/") { return fileIcon(icon, of: name, pixels: pixels) }
        guard !icon.isEmpty, !icon.contains("/"), hasIcon(icon) else { return initials(of: name, pixels: pixels) }
        return symbol(icon, pixels: pixels).styled("app-icon")
    }

    /// `adw_avatar_new`.
    private static func initials(of name: String, pixels: Int) -> Widget {
        let avatar = unsafe Widget(adw_avatar_new(Int32(pixels), DisplayText.plain(name), 1))
        return avatar.styled("app-icon").unread()
    }

    /// The initials, until there is a picture.
    private static func fileIcon(_ path: String, of name: String, pixels: Int) -> Widget {
        let place = Widget.bin().sized(width: pixels, height: pixels).unread()
        place.setContent(initials(of: name, pixels: pixels))
        unsafe IconStore.shared.load(path, pixels: pixels * Desktop.scale) { picture in
            let image = unsafe Widget(gtk_image_new_from_paintable(picture.address))
            unsafe gtk_image_set_pixel_size(image.address, Int32(pixels))
            place.setContent(image.styled("app-icon").unread())
        }
        return place
    }

    /// `gtk_icon_theme_has_icon`.
    private static func hasIcon(_ name: String) -> Bool {
        guard let display = unsafe gdk_display_get_default() else { return false }
        return unsafe gtk_icon_theme_has_icon(gtk_icon_theme_get_for_display(display), name) != 0
    }

    /// `gtk_search_entry_new`: a magnifier, a placeholder, and a way to empty it once there is something.
    static func searchEntry(placeholder: String) -> Widget {
        let entry = unsafe Widget(gtk_search_entry_new())
        setProperty(entry, "placeholder-text", placeholder)
        return entry.named(placeholder)
    }

    /// `gtk_entry_new`.
    static func entry(placeholder: String) -> Widget {
        let entry = unsafe Widget(gtk_entry_new())
        unsafe gtk_entry_set_placeholder_text(entry.cast(), placeholder)
        return entry.named(placeholder)
    }

    /// Return in an entry presses the window's default button (`gtk_entry_set_activates_default`).
    func activatesDefault() { unsafe gtk_entry_set_activates_default(cast(), 1) }

    /// What is typed in an entry (`gtk_editable_get_text`).
    var typedText: String {
        get { unsafe gtk_editable_get_text(address).map { unsafe String(cString: $0) } ?? "" }
        set { unsafe gtk_editable_set_text(address, newValue) }
    }

    /// `gtk_spinner_new`, spinning.
    static func spinner() -> Widget {
        let spinner = unsafe Widget(gtk_spinner_new())
        unsafe gtk_spinner_start(spinner.address)
        return spinner
    }

    /// `gtk_progress_bar_new`.
    static func progressBar() -> Widget { unsafe Widget(gtk_progress_bar_new()) }

    /// `gtk_progress_bar_set_fraction`: from 0 to 1.
    func setFraction(_ fraction: Double) { unsafe gtk_progress_bar_set_fraction(address, fraction) }

    private static func setProperty(_ object: Widget, _ name: String, _ text: String) {
        var value = GValue()
        // G_TYPE_STRING, a macro.
        unsafe g_value_init(&value, GType(16 << 2))
        unsafe g_value_set_string(&value, text)
        unsafe g_object_set_property(object.cast(), name, &value)
        unsafe g_value_unset(&value)
    }
}
