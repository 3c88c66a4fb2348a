// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita
internal import PushCore

/// A group of rows with a heading (`AdwPreferencesGroup`).
package final class PreferencesGroup: Widget {
    /// Creates a group with a heading and a footer below the rows; both may be empty.
    package init(_ title: String = "", footer: String = "") {
        unsafe super.init(adw_preferences_group_new())
        if !title.isEmpty { unsafe adw_preferences_group_set_title(cast(), DisplayText.markup(title)) }
        if !footer.isEmpty { add(Label(footer).styled("dim-label", "caption", "footer")) }
    }

    /// Adds a row or another widget with `adw_preferences_group_add`.
    package func add(_ row: Widget) { unsafe adw_preferences_group_add(cast(), row.cast()) }

    /// Removes a row or another widget with `adw_preferences_group_remove`.
    package func remove(_ row: Widget) { unsafe adw_preferences_group_remove(cast(), row.cast()) }
}
