// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// The application (`AdwApplication`), with its name on the session bus.
package final class Application: NativeObject {
    /// Creates an application with `adw_application_new`.
    ///
    /// - Parameters:
    ///   - id: The bus name, which is also the name of the icon of its windows.
    ///   - isService: Whether the bus activates the application, so that it starts without a window.
    package init(id: String, isService: Bool) {
        let flags = isService ? G_APPLICATION_IS_SERVICE : GApplicationFlags(rawValue: 0)
        unsafe super.init(adopting: OpaquePointer(adw_application_new(id, flags)))
    }

    /// Runs the application with `g_application_run`, without arguments; returns its exit status.
    package func run() -> Int32 { unsafe g_application_run(cast(), 0, nil) }

    /// Keeps the application running without a window (`g_application_hold`).
    package func hold() { unsafe g_application_hold(cast()) }

    /// Ends a hold with `g_application_release`; without holds and windows, the application ends after a timeout.
    package func release() { unsafe g_application_release(cast()) }

    /// Ends the application with `g_application_quit`.
    package func quit() { unsafe g_application_quit(cast()) }

    /// Sets how long the application runs without a window or a hold (`g_application_set_inactivity_timeout`).
    package func setInactivity(milliseconds: UInt32) {
        unsafe g_application_set_inactivity_timeout(cast(), milliseconds)
    }

    /// Lets the session manager end the application with the session (`GtkApplication:register-session`).
    package func joinSession() { setProperty("register-session", true) }

    // MARK: Life cycle

    /// Calls the body once, before the first activation.
    package func onStartup(_ body: @escaping () -> Void) { Signals.connect(self, "startup", body) }

    /// Calls the body once, before the application ends.
    package func onShutdown(_ body: @escaping () -> Void) { Signals.connect(self, "shutdown", body) }

    /// Calls the body at the start and whenever another process starts the application again.
    package func onActivated(_ body: @escaping () -> Void) { Signals.connect(self, "activate", body) }

    // MARK: Bus

    /// Adds an action without a parameter, which other processes can activate.
    package func addAction(_ name: String, _ body: @escaping () -> Void) { Signals.addAction(name, to: self, body) }

    /// Registers on the bus and reports whether another process already owns the name (`g_application_register`).
    ///
    /// - Returns: True if another process owns the name; nil if there is no bus or no display.
    package func register() -> Bool? {
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
}
