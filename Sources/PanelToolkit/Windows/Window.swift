// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A window, with the operations that all windows have (`GtkWindow`).
package class Window: Widget {
    /// The widget that Return activates, because GTK keeps its address but no reference to it.
    private var defaultWidget: Widget?

    /// Sets the initial size with `gtk_window_set_default_size`.
    package func setDefaultSize(width: Int, height: Int) {
        unsafe gtk_window_set_default_size(cast(), Int32(width), Int32(height))
    }

    /// The size that the window has when it is not maximized (`gtk_window_get_default_size`).
    package var defaultSize: (width: Int, height: Int) {
        var (width, height): (Int32, Int32) = (0, 0)
        unsafe gtk_window_get_default_size(cast(), &width, &height)
        return (Int(width), Int(height))
    }

    /// Whether the window is maximized (`gtk_window_is_maximized`).
    package var isMaximized: Bool { unsafe gtk_window_is_maximized(cast()) != 0 }

    /// Maximizes the window with `gtk_window_maximize`.
    package func maximize() { unsafe gtk_window_maximize(cast()) }

    /// Sets whether the user can resize the window (`gtk_window_set_resizable`).
    package func setResizable(_ isResizable: Bool) { unsafe gtk_window_set_resizable(cast(), isResizable ? 1 : 0) }

    /// Keeps the window above another one (`gtk_window_set_transient_for`).
    package func setOwner(_ window: Window?) { unsafe gtk_window_set_transient_for(cast(), window?.cast()) }

    /// Sets the widget that Return activates (`gtk_window_set_default_widget`).
    package func setDefault(_ widget: Widget?) {
        unsafe gtk_window_set_default_widget(cast(), widget?.cast())
        // GTK changes the style of the previous one, so that one is released only now.
        defaultWidget = widget
    }

    /// Shows and raises the window with `gtk_window_present`.
    package func present() { unsafe gtk_window_present(cast()) }

    /// Closes the window as if the user did it (`gtk_window_close`).
    package func close() { unsafe gtk_window_close(cast()) }

    /// Destroys the window with `gtk_window_destroy`.
    package func destroy() { unsafe gtk_window_destroy(cast()) }

    /// Whether the window has the keyboard focus (`gtk_window_is_active`).
    package var isActive: Bool { unsafe gtk_window_is_active(cast()) != 0 }

    /// The focused widget of the window (`gtk_window_get_focus`).
    package var focusedWidget: Widget? { unsafe gtk_window_get_focus(cast()).map { unsafe Widget($0) } }

    /// Sets the title with `gtk_window_set_title`.
    package func setTitle(_ title: String) { unsafe gtk_window_set_title(cast(), ShownText.clean(title)) }

    /// Sets the title, and the icon with the name of the application.
    func setTitle(_ title: String, of application: Application) {
        setTitle(title)
        unsafe gtk_window_set_icon_name(cast(), g_application_get_application_id(application.cast()))
    }

    // MARK: Events

    /// Calls the body when the window gets or loses the keyboard focus.
    package func onActiveChanged(_ body: @escaping () -> Void) { Signals.connectProperty(self, "is-active", body) }

    /// Calls the body when the window appears on the screen.
    package func onMapped(_ body: @escaping () -> Void) { Signals.connect(self, "map", body) }

    /// Calls the body when the user closes the window.
    ///
    /// - Parameter body: Returns true to keep the window.
    package func onCloseRequest(_ body: @escaping () -> Bool) { Signals.connectAnswering(self, "close-request", body) }

    /// Calls the body when a realized window gets a size and whenever the size changes (`GdkSurface::layout`).
    package func onLayout(_ body: @escaping () -> Void) {
        Signals.connect(self, "realize") { [weak self] in
            guard let self else { return }
            Signals.connectSize(unsafe NativeObject(gtk_native_get_surface(address)), "layout") { _, _ in body() }
        }
    }
}
