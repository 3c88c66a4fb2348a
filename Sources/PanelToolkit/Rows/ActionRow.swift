// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita
internal import PushCore

/// A row with a title and a subtitle (`AdwActionRow`).
package final class ActionRow: Widget {
    /// Creates a row that does not react to a click.
    package init(_ title: String, subtitle: String = "") {
        unsafe super.init(adw_action_row_new())
        setTitle(title)
        setSubtitle(subtitle)
        unsafe adw_action_row_set_subtitle_lines(cast(), 2)
        LabelWidth.boundAll(in: self)
    }

    /// Sets the title as plain text, because libadwaita would parse a name from another program as markup.
    package func setTitle(_ title: String) {
        unsafe adw_preferences_row_set_use_markup(cast(), 0)
        unsafe adw_preferences_row_set_title(cast(), DisplayText.plain(title))
    }

    /// Sets the subtitle with `adw_action_row_set_subtitle`.
    package func setSubtitle(_ subtitle: String) {
        unsafe adw_action_row_set_subtitle(cast(), DisplayText.plain(subtitle))
    }

    /// Adds a widget before the title with `adw_action_row_add_prefix`.
    package func addPrefix(_ widget: Widget) { unsafe adw_action_row_add_prefix(cast(), widget.cast()) }

    /// Adds a widget at the end with `adw_action_row_add_suffix`.
    package func addSuffix(_ widget: Widget) { unsafe adw_action_row_add_suffix(cast(), widget.cast()) }

    /// Forwards a click on the row to a widget (`adw_action_row_set_activatable_widget`).
    ///
    /// The row's title also becomes the accessible name of the widget.
    package func setActivates(_ widget: Widget) {
        unsafe adw_action_row_set_activatable_widget(cast(), widget.cast())
    }

    /// Calls the body when the row is activated.
    package func onActivated(_ body: @escaping () -> Void) {
        setActivatable(true)
        Signals.connect(self, "activated", body)
    }

    /// Sets whether the row can be activated and focused (`gtk_list_box_row_set_activatable`).
    package func setActivatable(_ isActivatable: Bool) {
        unsafe gtk_list_box_row_set_activatable(cast(), isActivatable ? 1 : 0)
    }
}
