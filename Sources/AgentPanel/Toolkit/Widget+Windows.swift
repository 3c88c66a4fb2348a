// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// The application and its windows.
extension Widget {
    /// `adw_application_new`.
    static func application(id: String, isService: Bool) -> Widget {
        let flags = isService ? G_APPLICATION_IS_SERVICE : GApplicationFlags(rawValue: 0)
        return unsafe Widget.adopting(OpaquePointer(adw_application_new(id, flags)))
    }

    /// `g_application_run`, with no words.
    func runApplication() -> Int32 { unsafe g_application_run(cast(), 0, nil) }

    /// `g_application_hold`: it stays without a window.
    func holdApplication() { unsafe g_application_hold(cast()) }

    /// `g_application_release`: it ends some time after its last window, if nothing else holds it.
    func releaseApplication() { unsafe g_application_release(cast()) }

    /// `g_application_quit`.
    func quitApplication() { unsafe g_application_quit(cast()) }

    /// For how long it waits for more to do (`g_application_set_inactivity_timeout`).
    func setInactivity(milliseconds: UInt32) { unsafe g_application_set_inactivity_timeout(cast(), milliseconds) }

    /// Lets the session manager end it when the session ends (`GtkApplication:register-session`).
    func joinSession() {
        var value = GValue()
        // G_TYPE_BOOLEAN, a macro.
        unsafe g_value_init(&value, GType(5 << 2))
        unsafe g_value_set_boolean(&value, 1)
        unsafe g_object_set_property(cast(), "register-session", &value)
        unsafe g_value_unset(&value)
    }

    /// Registers on the bus, and tells whether another process has been here first (`g_application_register`).
    ///
    /// - Returns: Nil when there is no bus to be on, or no display.
    func registerApplication() -> Bool? {
        guard unsafe g_application_register(cast(), nil, nil) != 0 else { return nil }
        return unsafe g_application_get_is_remote(cast()) != 0
    }

    /// `g_action_group_activate_action` of the process that was here first, and waits until the bus has it.
    func activateRemotely(action: String) {
        unsafe g_action_group_activate_action(address, action, nil)
        unsafe g_dbus_connection_flush_sync(g_application_get_dbus_connection(cast()), nil, nil)
    }

    /// Calls a method without arguments on the connection that has the application's name, and takes no answer.
    ///
    /// `g_dbus_connection_call`; the service is not started for it.
    func callFromOwnName(_ name: String, _ path: String, _ member: String) {
        guard let connection = unsafe g_application_get_dbus_connection(cast()) else { return }
        unsafe g_dbus_connection_call(
            connection, name, path, name, member, nil, nil, G_DBUS_CALL_FLAGS_NO_AUTO_START, -1, nil, nil, nil)
    }

    /// `g_simple_action_new` and `g_action_map_add_action`, without a parameter.
    func add(action name: String, _ body: @escaping () -> Void) {
        let action = unsafe Widget.adopting(g_simple_action_new(name, nil))
        Signals.connectAction(action, "activate", body)
        unsafe g_action_map_add_action(address, action.address)
    }

    /// `adw_application_window_new`.
    static func mainWindow(of application: Widget, title: String, width: Int, height: Int) -> Widget {
        let window = unsafe Widget(adw_application_window_new(application.cast()))
        unsafe gtk_window_set_title(window.cast(), title)
        unsafe gtk_window_set_default_size(window.cast(), Int32(width), Int32(height))
        unsafe gtk_window_set_icon_name(window.cast(), Panel.applicationID)
        return window
    }

    /// `adw_application_window_set_content`.
    func setMainContent(_ content: Widget) { unsafe adw_application_window_set_content(cast(), content.cast()) }

    /// A window for a task of its own, with nothing around its content (`gtk_window_new`, modal).
    static func dialog(of application: Widget, title: String, role: Role) -> Widget {
        let window = make(adw_window_get_type(), role: role.accessible)
        unsafe gtk_window_set_application(window.cast(), application.cast())
        unsafe gtk_window_set_title(window.cast(), title)
        unsafe gtk_window_set_modal(window.cast(), 1)
        unsafe gtk_window_set_icon_name(window.cast(), Panel.applicationID)
        return window
    }

    /// What kind of window a screen reader tells of.
    enum Role {
        case alert, dialog

        fileprivate var accessible: GtkAccessibleRole {
            switch self {
            case .alert: GTK_ACCESSIBLE_ROLE_ALERT_DIALOG
            case .dialog: GTK_ACCESSIBLE_ROLE_DIALOG
            }
        }
    }

    /// `adw_window_set_content`.
    func setDialogContent(_ content: Widget) { unsafe adw_window_set_content(cast(), content.cast()) }

    /// `gtk_window_set_resizable`.
    func setResizable(_ isResizable: Bool) { unsafe gtk_window_set_resizable(cast(), isResizable ? 1 : 0) }

    /// Runs when a window that is to be shown has a size, and when that changes (`GdkSurface::layout`).
    func onLayout(_ body: @escaping () -> Void) {
        Signals.connect(self, "realize") { [weak self] in
            guard let self else { return }
            Signals.connectSize(unsafe Widget(gtk_native_get_surface(address)), "layout") { _, _ in body() }
        }
    }

    /// `gtk_window_set_default_size`.
    func setDefaultSize(width: Int, height: Int) {
        unsafe gtk_window_set_default_size(cast(), Int32(width), Int32(height))
    }

    /// `gtk_window_set_transient_for`: above that window.
    func setOwner(_ window: Widget?) { unsafe gtk_window_set_transient_for(cast(), window?.cast()) }

    /// `gtk_window_set_default_widget`: what Return presses.
    func setDefault(_ widget: Widget?) { unsafe gtk_window_set_default_widget(cast(), widget?.cast()) }

    /// `gtk_window_present`.
    func present() { unsafe gtk_window_present(cast()) }

    /// `gtk_window_close`: as the person does.
    func close() { unsafe gtk_window_close(cast()) }

    /// `gtk_window_destroy`.
    func destroy() { unsafe gtk_window_destroy(cast()) }

    /// `gtk_window_is_active`: whether the person is in it.
    var isActive: Bool { unsafe gtk_window_is_active(cast()) != 0 }

    /// `adw_header_bar_new`.
    static func headerBar() -> Widget { unsafe Widget(adw_header_bar_new()) }

    /// `adw_header_bar_set_title_widget`.
    func setHeaderTitle(_ widget: Widget) { unsafe adw_header_bar_set_title_widget(address, widget.cast()) }

    /// `adw_window_title_new`.
    static func windowTitle(_ title: String) -> Widget { unsafe Widget(adw_window_title_new(title, "")) }

    /// `adw_window_title_set_title`.
    func setWindowTitle(_ title: String) { unsafe adw_window_title_set_title(address, title) }

    /// `adw_header_bar_pack_start`.
    func packStart(_ child: Widget) { unsafe adw_header_bar_pack_start(address, child.cast()) }

    /// `adw_header_bar_pack_end`.
    func packEnd(_ child: Widget) { unsafe adw_header_bar_pack_end(address, child.cast()) }

    /// All buttons of a window's frame that the person's desktop has, or one (`adw_header_bar_set_decoration_layout`).
    func setWindowButtons(closeOnly: Bool) {
        unsafe adw_header_bar_set_decoration_layout(address, closeOnly ? ":close" : nil)
    }

    /// Without the buttons of a window's frame.
    func withoutWindowButtons() {
        unsafe adw_header_bar_set_show_end_title_buttons(address, 0)
        unsafe adw_header_bar_set_show_start_title_buttons(address, 0)
    }
}
