// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita
internal import PushCore

/// A page with an icon, a title and a description in place of content (`AdwStatusPage`).
package final class StatusPage: Widget {
    /// Creates a page without icon and texts.
    package init() {
        unsafe super.init(adw_status_page_new())
        show(icon: "", title: "", description: "")
        styled("compact").expanding(across: true, down: true)
    }

    /// Changes the icon and the texts.
    package func show(icon: String, title: String, description: String) {
        unsafe adw_status_page_set_icon_name(address, icon)
        unsafe adw_status_page_set_title(address, DisplayText.markup(title))
        unsafe adw_status_page_set_description(address, DisplayText.markup(description))
    }
}
