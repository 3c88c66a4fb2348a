// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita
internal import PushCore

/// Grouped tables: `AdwPreferencesPage`, its groups and their rows.
extension Widget {
    /// `adw_preferences_page_new`.
    static func table() -> Widget { unsafe Widget(adw_preferences_page_new()) }

    /// `adw_preferences_group_new` with a heading, and a sentence below its rows; both may be empty.
    static func group(_ title: String = "", footer: String = "") -> Widget {
        let group = unsafe Widget(adw_preferences_group_new())
        if !title.isEmpty { unsafe adw_preferences_group_set_title(group.cast(), DisplayText.markup(title)) }
        if !footer.isEmpty {
            let label = Widget.label(footer).styled("dim-label", "caption", "footer")
            unsafe adw_preferences_group_add(group.cast(), label.cast())
        }
        return group
    }

    /// `adw_preferences_page_add`.
    func add(group: Widget) { unsafe adw_preferences_page_add(cast(), group.cast()) }

    /// `adw_preferences_page_remove`.
    func remove(group: Widget) { unsafe adw_preferences_page_remove(cast(), group.cast()) }

    /// `adw_preferences_group_add`.
    func add(row: Widget) { unsafe adw_preferences_group_add(cast(), row.cast()) }

    /// `adw_preferences_group_remove`.
    func remove(row: Widget) { unsafe adw_preferences_group_remove(cast(), row.cast()) }

    /// `adw_action_row_new`.
    static func actionRow(_ title: String, subtitle: String = "") -> Widget {
        let row = unsafe Widget(adw_action_row_new())
        row.setRowTitle(title)
        row.setRowSubtitle(subtitle)
        unsafe adw_action_row_set_subtitle_lines(row.cast(), 2)
        row.boundLabels()
        return row
    }

    /// A row of any content (`adw_preferences_row_new`), which does nothing when it is pressed.
    static func plainRow(_ content: Widget) -> Widget {
        let row = unsafe Widget(adw_preferences_row_new())
        unsafe gtk_list_box_row_set_child(row.cast(), content.cast())
        unsafe gtk_list_box_row_set_activatable(row.cast(), 0)
        return row
    }

    /// `adw_preferences_row_set_title`; titles are markup to libadwaita, and names come from other programs.
    func setRowTitle(_ title: String) {
        unsafe adw_preferences_row_set_use_markup(cast(), 0)
        unsafe adw_preferences_row_set_title(cast(), DisplayText.plain(title))
    }

    /// `adw_action_row_set_subtitle`.
    func setRowSubtitle(_ subtitle: String) {
        unsafe adw_action_row_set_subtitle(cast(), DisplayText.plain(subtitle))
    }

    /// `adw_action_row_add_prefix`.
    func addPrefix(_ widget: Widget) { unsafe adw_action_row_add_prefix(cast(), widget.cast()) }

    /// `adw_action_row_add_suffix`.
    func addSuffix(_ widget: Widget) { unsafe adw_action_row_add_suffix(cast(), widget.cast()) }

    /// `adw_action_row_set_activatable_widget`: pressing the row presses that.
    func setActivates(_ widget: Widget) { unsafe adw_action_row_set_activatable_widget(cast(), widget.cast()) }

    /// Pressing the row does this.
    func onActivated(_ body: @escaping () -> Void) {
        unsafe gtk_list_box_row_set_activatable(cast(), 1)
        Signals.connect(self, "activated", body)
    }

    /// Whether the row can be pressed and reached (`gtk_list_box_row_set_activatable`).
    func setActivatable(_ isActivatable: Bool) {
        unsafe gtk_list_box_row_set_activatable(cast(), isActivatable ? 1 : 0)
    }

    /// `adw_status_page_new`: a picture, a title, and what to do.
    static func statusPage(icon: String, title: String, description: String, action: Widget? = nil) -> Widget {
        let page = unsafe Widget(adw_status_page_new())
        unsafe adw_status_page_set_icon_name(page.address, icon)
        unsafe adw_status_page_set_title(page.address, DisplayText.markup(title))
        unsafe adw_status_page_set_description(page.address, DisplayText.markup(description))
        if let action { unsafe adw_status_page_set_child(page.address, action.cast()) }
        return page.styled("compact").expanding(across: true, down: true)
    }

    /// Changes what a status page says.
    func setStatus(icon: String, title: String, description: String) {
        unsafe adw_status_page_set_icon_name(address, icon)
        unsafe adw_status_page_set_title(address, DisplayText.markup(title))
        unsafe adw_status_page_set_description(address, DisplayText.markup(description))
    }
}
