// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A main window (`AdwApplicationWindow`).
package final class ApplicationWindow: Window {
    /// Creates a window with `adw_application_window_new`.
    package init(of application: Application, title: String, width: Int, height: Int) {
        unsafe super.init(adw_application_window_new(application.cast()))
        setTitle(title, of: application)
        setDefaultSize(width: width, height: height)
    }

    /// Sets the content with `adw_application_window_set_content`.
    package func setContent(_ content: Widget) {
        unsafe adw_application_window_set_content(cast(), content.cast())
    }

    /// Adds an action without a parameter, which the window's menus can activate.
    package func addAction(_ name: String, _ body: @escaping () -> Void) { Signals.addAction(name, to: self, body) }
}
