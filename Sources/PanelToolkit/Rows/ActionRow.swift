// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita
internal import PushCore

/// A row with a title and a subtitle (`AdwActionRow`).
package final class ActionRow: Widget {
    /// Creates a row that does not react to a click.
    ///
    /// - Parameters:
    ///   - title: The title.
    ///   - subtitle: The text below it; empty for none.
    ///   - subtitleLineCountMax: The number of lines after which the subtitle is truncated; nil for no limit.
    package init(_ title: String, subtitle: String = "", subtitleLineCountMax: Int? = 2) {
        unsafe super.init(adw_action_row_new())
        setUp(title, subtitle, subtitleLineCountMax: subtitleLineCountMax)
    }

    /// Creates a row with the accessible role of a switch, which a click anywhere in it operates.
    ///
    /// The row gets the keyboard focus, so its accessible state is the one that a screen reader speaks.
    ///
    /// - Parameters:
    ///   - title: The title.
    ///   - subtitle: The explanation; empty for none.
    ///   - control: The switch in the row.
    package init(_ title: String, subtitle: String = "", switchedBy control: Switch) {
        unsafe super.init(Widget.make(adw_action_row_get_type(), role: GTK_ACCESSIBLE_ROLE_SWITCH))
        setUp(title, subtitle)
        unsafe gtk_widget_set_can_focus(control.cast(), 0)
        unsafe adw_action_row_set_activatable_widget(cast(), control.cast())
        control.unread()
    }

    private func setUp(_ title: String, _ subtitle: String, subtitleLineCountMax: Int? = 2) {
        setTitle(title)
        setSubtitle(subtitle)
        unsafe adw_action_row_set_subtitle_lines(cast(), Int32(subtitleLineCountMax ?? 0))
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
