// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

extension Widget {
    /// Creates an application with `adw_application_new`.
    package static func application(id: String, isService: Bool) -> Widget {
        let flags = isService ? G_APPLICATION_IS_SERVICE : GApplicationFlags(rawValue: 0)
        return unsafe Widget(adopting: OpaquePointer(adw_application_new(id, flags)))
    }

    /// Runs the application with `g_application_run`, without arguments.
    package func runApplication() -> Int32 { unsafe g_application_run(cast(), 0, nil) }

    /// Keeps the application running without a window (`g_application_hold`).
    package func holdApplication() { unsafe g_application_hold(cast()) }

    /// Ends a hold with `g_application_release`; without holds and windows, the application ends after a timeout.
    package func releaseApplication() { unsafe g_application_release(cast()) }

    /// Ends the application with `g_application_quit`.
    package func quitApplication() { unsafe g_application_quit(cast()) }

    /// Sets how long the application runs without a window or a hold (`g_application_set_inactivity_timeout`).
    package func setInactivity(milliseconds: UInt32) {
        unsafe g_application_set_inactivity_timeout(cast(), milliseconds)
    }

    /// Lets the session manager end the application with the session (`GtkApplication:register-session`).
    package func joinSession() {
        var value = GValue()
        // The value is G_TYPE_BOOLEAN, which is a macro that Swift cannot import.
        unsafe g_value_init(&value, GType(5 << 2))
        unsafe g_value_set_boolean(&value, 1)
        unsafe g_object_set_property(cast(), "register-session", &value)
        unsafe g_value_unset(&value)
    }

    /// Registers on the bus and reports whether another process already owns the name (`g_application_register`).
    ///
    /// - Returns: True if another process owns the name; nil if there is no bus or no display.
    package func registerApplication() -> Bool? {
        guard unsafe g_application_register(cast(), nil, nil) != 0 else { return nil }
        return unsafe g_application_get_is_remote(cast()) != 0
    }

    /// Activates an action in the process that owns the name, and waits until the message was sent to the bus.
    package func activateRemotely(action: String) {
        unsafe g_action_group_activate_action(address, action, nil)
        unsafe g_dbus_connection_flush_sync(g_application_get_dbus_connection(cast()), nil, nil)
    }

    /// Calls a method without arguments on the connection that owns the application's name; ignores the answer.
    ///
    /// Uses `g_dbus_connection_call`; the call does not start the service.
    package func callFromOwnName(_ name: String, _ path: String, _ member: String) {
        guard let connection = unsafe g_application_get_dbus_connection(cast()) else { return }
        unsafe g_dbus_connection_call(
            connection, name, path, name, member, nil, nil, G_DBUS_CALL_FLAGS_NO_AUTO_START, -1, nil, nil, nil)
    }

    /// Adds an action without a parameter (`g_simple_action_new`, `g_action_map_add_action`).
    package func add(action name: String, _ body: @escaping () -> Void) {
        let action = unsafe Widget(adopting: g_simple_action_new(name, nil))
        Signals.connectAction(action, "activate", body)
        unsafe g_action_map_add_action(address, action.address)
    }

    /// Creates a window with `adw_application_window_new`; its icon has the name of the application.
    package static func mainWindow(of application: Widget, title: String, width: Int, height: Int) -> Widget {
        let window = unsafe Widget(adw_application_window_new(application.cast()))
        unsafe gtk_window_set_title(window.cast(), title)
        unsafe gtk_window_set_default_size(window.cast(), Int32(width), Int32(height))
        unsafe gtk_window_set_icon_name(window.cast(), g_application_get_application_id(application.cast()))
        return window
    }

    /// Sets the content with `adw_application_window_set_content`.
    package func setMainContent(_ content: Widget) { unsafe adw_application_window_set_content(cast(), content.cast()) }

    /// Creates a modal `AdwWindow`, which has no frame around its content and the icon of the application.
    package static func dialog(of application: Widget, title: String, role: Role) -> Widget {
        let window = unsafe Widget(Widget.make(adw_window_get_type(), role: role.accessible))
        unsafe gtk_window_set_application(window.cast(), application.cast())
        unsafe gtk_window_set_title(window.cast(), title)
        unsafe gtk_window_set_modal(window.cast(), 1)
        unsafe gtk_window_set_icon_name(window.cast(), g_application_get_application_id(application.cast()))
        return window
    }

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

    /// Sets the content with `adw_window_set_content`.
    package func setDialogContent(_ content: Widget) { unsafe adw_window_set_content(cast(), content.cast()) }

    /// Sets whether the user can resize the window (`gtk_window_set_resizable`).
    package func setResizable(_ isResizable: Bool) { unsafe gtk_window_set_resizable(cast(), isResizable ? 1 : 0) }

    /// Calls the body when a realized window gets a size and whenever the size changes (`GdkSurface::layout`).
    package func onLayout(_ body: @escaping () -> Void) {
        Signals.connect(self, "realize") { [weak self] in
            guard let self else { return }
            Signals.connectSize(unsafe Widget(gtk_native_get_surface(address)), "layout") { _, _ in body() }
        }
    }

    /// Sets the initial size with `gtk_window_set_default_size`.
    package func setDefaultSize(width: Int, height: Int) {
        unsafe gtk_window_set_default_size(cast(), Int32(width), Int32(height))
    }

    /// Keeps the window above another one (`gtk_window_set_transient_for`).
    package func setOwner(_ window: Widget?) { unsafe gtk_window_set_transient_for(cast(), window?.cast()) }

    /// Sets the widget that Return activates (`gtk_window_set_default_widget`).
    package func setDefault(_ widget: Widget?) { unsafe gtk_window_set_default_widget(cast(), widget?.cast()) }

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

    /// Creates a header bar with `adw_header_bar_new`.
    package static func headerBar() -> Widget { unsafe Widget(adw_header_bar_new()) }

    /// Sets the title widget with `adw_header_bar_set_title_widget`.
    package func setHeaderTitle(_ widget: Widget) { unsafe adw_header_bar_set_title_widget(address, widget.cast()) }

    /// Creates a title with `adw_window_title_new`.
    package static func windowTitle(_ title: String) -> Widget { unsafe Widget(adw_window_title_new(title, "")) }

    /// Changes a title with `adw_window_title_set_title`.
    package func setWindowTitle(_ title: String) { unsafe adw_window_title_set_title(address, title) }

    /// Adds a widget at the start with `adw_header_bar_pack_start`.
    package func packStart(_ child: Widget) { unsafe adw_header_bar_pack_start(address, child.cast()) }

    /// Adds a widget at the end with `adw_header_bar_pack_end`.
    package func packEnd(_ child: Widget) { unsafe adw_header_bar_pack_end(address, child.cast()) }

    /// Shows the user's window buttons or only the close button (`adw_header_bar_set_decoration_layout`).
    package func setWindowButtons(closeOnly: Bool) {
        unsafe adw_header_bar_set_decoration_layout(address, closeOnly ? ":close" : nil)
    }

    /// Hides all window buttons.
    package func withoutWindowButtons() {
        unsafe adw_header_bar_set_show_end_title_buttons(address, 0)
        unsafe adw_header_bar_set_show_start_title_buttons(address, 0)
    }
}
