// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita
internal import PushCore

/// Preference pages: `AdwPreferencesPage`, its groups and their rows.
extension Widget {
    /// Creates a page with `adw_preferences_page_new`.
    package static func table() -> Widget { unsafe Widget(adw_preferences_page_new()) }

    /// Creates an `adw_preferences_group_new` with a heading and a footer below the rows; both may be empty.
    package static func group(_ title: String = "", footer: String = "") -> Widget {
        let group = unsafe Widget(adw_preferences_group_new())
        if !title.isEmpty { unsafe adw_preferences_group_set_title(group.cast(), DisplayText.markup(title)) }
        if !footer.isEmpty {
            let label = Label(footer).styled("dim-label", "caption", "footer")
            unsafe adw_preferences_group_add(group.cast(), label.cast())
        }
        return group
    }

    /// Adds a group with `adw_preferences_page_add`.
    package func add(group: Widget) { unsafe adw_preferences_page_add(cast(), group.cast()) }

    /// Removes a group with `adw_preferences_page_remove`.
    package func remove(group: Widget) { unsafe adw_preferences_page_remove(cast(), group.cast()) }

    /// Adds a row with `adw_preferences_group_add`.
    package func add(row: Widget) { unsafe adw_preferences_group_add(cast(), row.cast()) }

    /// Removes a row with `adw_preferences_group_remove`.
    package func remove(row: Widget) { unsafe adw_preferences_group_remove(cast(), row.cast()) }

    /// Creates a row with `adw_action_row_new`.
    package static func actionRow(_ title: String, subtitle: String = "") -> Widget {
        let row = unsafe Widget(adw_action_row_new())
        row.setRowTitle(title)
        row.setRowSubtitle(subtitle)
        unsafe adw_action_row_set_subtitle_lines(row.cast(), 2)
        LabelWidth.boundAll(in: row)
        return row
    }

    /// Creates a row with any content that does not react to a click (`adw_preferences_row_new`).
    package static func plainRow(_ content: Widget) -> Widget {
        let row = unsafe Widget(adw_preferences_row_new())
        unsafe gtk_list_box_row_set_child(row.cast(), content.cast())
        unsafe gtk_list_box_row_set_activatable(row.cast(), 0)
        return row
    }

    /// Sets the title of a row as plain text, because libadwaita would parse a name from another program as markup.
    package func setRowTitle(_ title: String) {
        unsafe adw_preferences_row_set_use_markup(cast(), 0)
        unsafe adw_preferences_row_set_title(cast(), DisplayText.plain(title))
    }

    /// Sets the subtitle of a row with `adw_action_row_set_subtitle`.
    package func setRowSubtitle(_ subtitle: String) {
        unsafe adw_action_row_set_subtitle(cast(), DisplayText.plain(subtitle))
    }

    /// Adds a widget before the title with `adw_action_row_add_prefix`.
    package func addPrefix(_ widget: Widget) { unsafe adw_action_row_add_prefix(cast(), widget.cast()) }

    /// Adds a widget at the end with `adw_action_row_add_suffix`.
    package func addSuffix(_ widget: Widget) { unsafe adw_action_row_add_suffix(cast(), widget.cast()) }

    /// Forwards a click on the row to a widget (`adw_action_row_set_activatable_widget`).
    package func setActivates(_ widget: Widget) { unsafe adw_action_row_set_activatable_widget(cast(), widget.cast()) }

    /// Calls the body when the row is activated.
    package func onActivated(_ body: @escaping () -> Void) {
        unsafe gtk_list_box_row_set_activatable(cast(), 1)
        Signals.connect(self, "activated", body)
    }

    /// Sets whether the row can be activated and focused (`gtk_list_box_row_set_activatable`).
    package func setActivatable(_ isActivatable: Bool) {
        unsafe gtk_list_box_row_set_activatable(cast(), isActivatable ? 1 : 0)
    }

    /// Creates an `adw_status_page_new` with an icon, a title and a description.
    package static func statusPage(icon: String, title: String, description: String, action: Widget? = nil) -> Widget {
        let page = unsafe Widget(adw_status_page_new())
        unsafe adw_status_page_set_icon_name(page.address, icon)
        unsafe adw_status_page_set_title(page.address, DisplayText.markup(title))
        unsafe adw_status_page_set_description(page.address, DisplayText.markup(description))
        if let action { unsafe adw_status_page_set_child(page.address, action.cast()) }
        return page.styled("compact").expanding(across: true, down: true)
    }

    /// Changes the icon and the texts of a status page.
    package func setStatus(icon: String, title: String, description: String) {
        unsafe adw_status_page_set_icon_name(address, icon)
        unsafe adw_status_page_set_title(address, DisplayText.markup(title))
        unsafe adw_status_page_set_description(address, DisplayText.markup(description))
    }
}
