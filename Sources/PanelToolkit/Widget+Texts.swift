// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita
internal import PushCore

extension Widget {
    /// The behavior of a label when its text is too long.
    package enum Fit {
        /// The text wraps to as many lines as it needs.
        case wrapped
        /// The text is truncated at the end of the given number of lines.
        case cut(lines: Int)
        /// The text is on one line and never truncated.
        case whole
    }

    /// Creates a `gtk_label_new` with plain text, which is never parsed as markup.
    package static func label(_ text: String, _ fit: Fit = .wrapped) -> Widget {
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

    /// Sets the text with `gtk_label_set_text`, without control characters.
    package func setText(_ text: String) { unsafe gtk_label_set_text(address, DisplayText.plain(text)) }

    /// Aligns the text at its start, which depends on the direction of the language.
    @discardableResult
    package func atStart() -> Widget {
        unsafe gtk_label_set_xalign(address, 0)
        unsafe gtk_label_set_justify(address, GTK_JUSTIFY_LEFT)
        return self
    }

    /// Centers the text.
    @discardableResult
    package func centred() -> Widget {
        unsafe gtk_label_set_xalign(address, 0.5)
        unsafe gtk_label_set_justify(address, GTK_JUSTIFY_CENTER)
        return self
    }

    /// Lets the user select and copy the text.
    @discardableResult
    package func selectable() -> Widget {
        unsafe gtk_label_set_selectable(address, 1)
        return self
    }

    /// Creates an icon with `gtk_image_new_from_icon_name`.
    package static func symbol(_ name: String, pixels: Int = 16) -> Widget {
        let image = unsafe Widget(gtk_image_new_from_icon_name(name))
        unsafe gtk_image_set_pixel_size(image.address, Int32(pixels))
        return image.unread()
    }

    /// Replaces an icon with `gtk_image_set_from_icon_name`.
    package func setSymbol(_ name: String) { unsafe gtk_image_set_from_icon_name(address, name) }

    /// Creates an image of the initials of a name with `adw_avatar_new`.
    package static func initials(of name: String, pixels: Int) -> Widget {
        unsafe Widget(adw_avatar_new(Int32(pixels), DisplayText.plain(name), 1)).unread()
    }

    /// Creates an image of a texture with `gtk_image_new_from_paintable`.
    package static func image(_ texture: Widget, pixels: Int) -> Widget {
        let image = unsafe Widget(gtk_image_new_from_paintable(texture.address))
        unsafe gtk_image_set_pixel_size(image.address, Int32(pixels))
        return image.unread()
    }

    /// Creates a texture with `gdk_memory_texture_new`.
    package static func texture(_ picture: PixelPicture) -> Widget {
        let bytes = unsafe g_bytes_new(picture.points, UInt(picture.points.count))
        defer { unsafe g_bytes_unref(bytes) }
        return unsafe Widget(
            adopting:
                gdk_memory_texture_new(
                    Int32(picture.width), Int32(picture.height), GDK_MEMORY_R8G8B8A8, bytes, gsize(picture.width * 4)))
    }

    /// Creates a `gtk_search_entry_new` with a magnifier, a placeholder and a clear button.
    package static func searchEntry(placeholder: String) -> Widget {
        let entry = unsafe Widget(gtk_search_entry_new())
        setProperty(entry, "placeholder-text", placeholder)
        return entry.named(placeholder)
    }

    /// Redirects text typed in a widget to the search entry (`gtk_search_entry_set_key_capture_widget`).
    package func captureTyping(in widget: Widget) {
        unsafe gtk_search_entry_set_key_capture_widget(address, widget.cast())
    }

    /// Creates an entry with `gtk_entry_new`.
    package static func entry(placeholder: String) -> Widget {
        let entry = unsafe Widget(gtk_entry_new())
        unsafe gtk_entry_set_placeholder_text(entry.cast(), placeholder)
        return entry.named(placeholder)
    }

    /// Lets Return in the entry press the window's default button (`gtk_entry_set_activates_default`).
    package func activatesDefault() { unsafe gtk_entry_set_activates_default(cast(), 1) }

    /// The text in an entry (`gtk_editable_get_text`).
    package var typedText: String {
        get { unsafe gtk_editable_get_text(address).map { unsafe String(cString: $0) } ?? "" }
        set { unsafe gtk_editable_set_text(address, newValue) }
    }

    /// Creates a spinning `gtk_spinner_new`.
    package static func spinner() -> Widget {
        let spinner = unsafe Widget(gtk_spinner_new())
        unsafe gtk_spinner_start(spinner.address)
        return spinner
    }

    /// Creates a progress bar with `gtk_progress_bar_new`.
    package static func progressBar() -> Widget { unsafe Widget(gtk_progress_bar_new()) }

    /// Sets the progress from 0 to 1 with `gtk_progress_bar_set_fraction`.
    package func setFraction(_ fraction: Double) { unsafe gtk_progress_bar_set_fraction(address, fraction) }

    private static func setProperty(_ object: Widget, _ name: String, _ text: String) {
        var value = GValue()
        // The value is G_TYPE_STRING, which is a macro that Swift cannot import.
        unsafe g_value_init(&value, GType(16 << 2))
        unsafe g_value_set_string(&value, text)
        unsafe g_object_set_property(object.cast(), name, &value)
        unsafe g_value_unset(&value)
    }
}
