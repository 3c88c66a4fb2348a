// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// The window with name, version and license of the program (`AdwAboutWindow`).
package final class AboutWindow: Window {
    /// Creates a window with `adw_about_window_new`.
    ///
    /// - Parameters:
    ///   - application: The application, whose ID is also the name of the icon.
    ///   - name: The name of the program.
    ///   - version: The version of the program.
    ///   - comment: A description in one or two sentences.
    package init(of application: Application, name: String, version: String, comment: String) {
        unsafe super.init(adw_about_window_new())
        unsafe adw_about_window_set_application_name(address, name)
        unsafe adw_about_window_set_application_icon(address, g_application_get_application_id(application.cast()))
        unsafe adw_about_window_set_version(address, version)
        unsafe adw_about_window_set_comments(address, comment)
        unsafe adw_about_window_set_license_type(address, GTK_LICENSE_APACHE_2_0)
        unsafe gtk_window_set_modal(cast(), 1)
    }
}
