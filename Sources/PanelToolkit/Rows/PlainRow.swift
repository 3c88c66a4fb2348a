// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A row with any content that does not react to a click (`AdwPreferencesRow`).
package final class PlainRow: Widget {
    /// Creates a row with its content.
    package init(_ content: Widget) {
        unsafe super.init(adw_preferences_row_new())
        unsafe gtk_list_box_row_set_child(cast(), content.cast())
        unsafe gtk_list_box_row_set_activatable(cast(), 0)
    }
}
