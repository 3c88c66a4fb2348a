// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita
internal import PushCore

/// An object of GTK or libadwaita; their own reference counting keeps it as long as it is on the screen.
@safe
struct Widget {
    /// For signals; never nil, because the libraries stop the process when memory runs out.
    let address: OpaquePointer

    private init(_ address: OpaquePointer?) {
        guard let address = unsafe address else { preconditionFailure("GTK made nothing") }
        unsafe self.address = address
    }

    private init<Object>(_ object: UnsafeMutablePointer<Object>?) { unsafe self.init(OpaquePointer(object)) }

    /// GTK's cast macros, which cannot be imported: every object is one pointer.
    private func cast<Object>() -> UnsafeMutablePointer<Object> { unsafe UnsafeMutablePointer<Object>(address) }

    // MARK: Application and window

    /// `adw_application_new`.
    static func application(id: String) -> Widget {
        unsafe Widget(adw_application_new(id, GApplicationFlags(rawValue: 0)))
    }

    /// `g_application_run`.
    func run() -> Int32 { unsafe g_application_run(cast(), 0, nil) }

    /// `gtk_application_get_active_window`.
    var activeWindow: Widget? { unsafe gtk_application_get_active_window(cast()).map { unsafe Widget($0) } }

    /// `adw_preferences_window_new`.
    static func window(of application: Widget, title: String) -> Widget {
        let window = unsafe Widget(adw_preferences_window_new())
        unsafe gtk_window_set_application(window.cast(), application.cast())
        unsafe gtk_window_set_title(window.cast(), title)
        unsafe gtk_window_set_default_size(window.cast(), 420, 640)
        return window
    }

    /// `adw_preferences_window_add`.
    func add(page: Widget) { unsafe adw_preferences_window_add(cast(), page.cast()) }

    /// `gtk_window_present`.
    func present() { unsafe gtk_window_present(cast()) }

    // MARK: Pages, groups, rows

    /// `adw_preferences_page_new`.
    static func page(title: String, icon: String) -> Widget {
        let page = unsafe Widget(adw_preferences_page_new())
        unsafe adw_preferences_page_set_title(page.cast(), title)
        unsafe adw_preferences_page_set_icon_name(page.cast(), icon)
        return page
    }

    /// `adw_preferences_group_new`.
    static func group(title: String, description: String? = nil) -> Widget {
        let group = unsafe Widget(adw_preferences_group_new())
        unsafe adw_preferences_group_set_title(group.cast(), escaped(title))
        if let description { unsafe adw_preferences_group_set_description(group.cast(), escaped(description)) }
        return group
    }

    /// `adw_action_row_new`.
    static func row(title: String, subtitle: String = "") -> Widget {
        let row = unsafe Widget(adw_action_row_new())
        unsafe adw_preferences_row_set_title(row.cast(), escaped(title))
        unsafe adw_action_row_set_subtitle(row.cast(), escaped(subtitle))
        return row
    }

    /// A row that carries a `GtkSwitch`; `changed` gets its new state.
    static func switchRow(title: String, isOn: Bool, changed: @escaping (Bool) -> Void) -> Widget {
        let row = row(title: title)
        let toggle = unsafe Widget(gtk_switch_new())
        unsafe gtk_switch_set_active(toggle.address, isOn ? 1 : 0)
        unsafe gtk_widget_set_valign(toggle.cast(), GTK_ALIGN_CENTER)
        unsafe adw_action_row_add_suffix(row.cast(), toggle.cast())
        unsafe adw_action_row_set_activatable_widget(row.cast(), toggle.cast())
        Signals.connect(toggle, "notify::active") { changed(unsafe gtk_switch_get_active(toggle.address) != 0) }
        return row
    }

    /// `adw_preferences_page_add`.
    func add(group: Widget) { unsafe adw_preferences_page_add(cast(), group.cast()) }

    /// `adw_preferences_page_remove`.
    func remove(group: Widget) { unsafe adw_preferences_page_remove(cast(), group.cast()) }

    /// `adw_preferences_group_add`.
    func add(row: Widget) { unsafe adw_preferences_group_add(cast(), row.cast()) }

    /// Titles are markup to libadwaita, and names and texts come from other programs.
    private static func escaped(_ text: String) -> String { DisplayText.markup(text) }
}
