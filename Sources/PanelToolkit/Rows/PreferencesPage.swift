// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A scrolling page of groups (`AdwPreferencesPage`).
package final class PreferencesPage: Widget {
    /// Creates a page without groups.
    package init() { unsafe super.init(adw_preferences_page_new()) }

    /// Adds a group with `adw_preferences_page_add`.
    package func add(_ group: PreferencesGroup) { unsafe adw_preferences_page_add(cast(), group.cast()) }

    /// Removes a group with `adw_preferences_page_remove`.
    package func remove(_ group: PreferencesGroup) { unsafe adw_preferences_page_remove(cast(), group.cast()) }
}
