// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita
internal import PushCore

/// A row that shows or hides the rows below it (`AdwExpanderRow`).
package final class ExpanderRow: Widget {
    /// Creates a collapsed row with a title.
    package init(_ title: String) {
        unsafe super.init(adw_expander_row_new())
        unsafe adw_preferences_row_set_use_markup(cast(), 0)
        unsafe adw_preferences_row_set_title(cast(), DisplayText.plain(title))
    }

    /// Adds a row below with `adw_expander_row_add_row`.
    package func add(_ row: Widget) { unsafe adw_expander_row_add_row(cast(), row.cast()) }
}
