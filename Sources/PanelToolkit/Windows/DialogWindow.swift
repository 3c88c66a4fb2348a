// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A modal window without a frame around its content (`AdwWindow`).
package final class DialogWindow: Window {
    /// The accessible role of a dialog.
    package enum Role {
        case alert, dialog

        fileprivate var accessible: GtkAccessibleRole {
            switch self {
            case .alert: GTK_ACCESSIBLE_ROLE_ALERT_DIALOG
            case .dialog: GTK_ACCESSIBLE_ROLE_DIALOG
            }
        }
    }

    /// Creates a window of an application.
    package init(of application: Application, title: String, role: Role) {
        unsafe super.init(Widget.make(adw_window_get_type(), role: role.accessible))
        unsafe gtk_window_set_application(cast(), application.cast())
        unsafe gtk_window_set_modal(cast(), 1)
        setTitle(title, of: application)
    }

    /// Sets the content with `adw_window_set_content`.
    package func setContent(_ content: Widget) { unsafe adw_window_set_content(cast(), content.cast()) }
}
