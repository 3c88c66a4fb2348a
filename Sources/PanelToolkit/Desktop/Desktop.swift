// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// Queries to the desktop outside the panel's windows.
package enum Desktop {
    /// Requests a token that lets a started app raise its window (`g_app_launch_context_get_startup_notify_id`).
    ///
    /// - Parameter name: The name that the desktop may show during the start.
    /// - Returns: The token; empty if the desktop provides none.
    package static func activationToken(shownAs name: String) -> String {
        guard let display = unsafe gdk_display_get_default() else { return "" }
        let context = unsafe NativeObject(adopting: gdk_display_get_app_launch_context(display))
        // A token is requested for an app, of which only the name matters.
        let flags = GAppInfoCreateFlags(rawValue: 0)
        guard let info = unsafe g_app_info_create_from_commandline("true", name, flags, nil) else { return "" }
        defer { unsafe g_object_unref(UnsafeMutableRawPointer(info)) }
        guard let token = unsafe g_app_launch_context_get_startup_notify_id(context.cast(), info, nil) else {
            return ""
        }
        defer { unsafe g_free(token) }
        return unsafe String(cString: token)
    }

    /// Whether animations are enabled (`gtk-enable-animations`).
    package static var allowsMotion: Bool {
        guard let settings = unsafe gtk_settings_get_default() else { return false }
        return unsafe NativeObject(settings).flag("gtk-enable-animations")
    }

    /// The user's text size relative to the default, at least 1, measured by the height of a line.
    package static var textScale: Double { max(1, Double(Label("Ag", .cut(lines: 1)).naturalHeight()) / 17) }

    /// The largest scale factor of all monitors, at most 4 (`gdk_monitor_get_scale_factor`).
    package static var scale: Int { min(max(Monitor.all.map(\.scale).max() ?? 1, 1), 4) }

    /// The size of the monitor with the pointer; nil if the display or its monitors are unknown.
    package static var monitorSize: (width: Int, height: Int)? {
        guard let display = unsafe gdk_display_get_default() else { return nil }
        let monitor = unsafe X11Screen(display)?.monitorOfPointer ?? Monitor.all.first
        return monitor.map { ($0.width, $0.height) }
    }

    /// Centers a window on the monitor with the pointer and keeps it above other windows.
    ///
    /// This works only on X11. Wayland compositors place windows themselves, and center new ones.
    package static func center(_ window: Window) {
        guard let display = unsafe gdk_display_get_default(), let screen = unsafe X11Screen(display),
            let monitor = screen.monitorOfPointer
        else { return }
        screen.center(window, on: monitor)
    }

    /// The codes of all pressed keys, including those that other windows receive.
    ///
    /// The set is empty on Wayland: a compositor does not report keys that were pressed earlier, and GTK does not
    /// repeat them.
    package static var keysDown: Set<UInt32> {
        guard let display = unsafe gdk_display_get_default(), let screen = unsafe X11Screen(display) else { return [] }
        return screen.keysDown
    }
}
