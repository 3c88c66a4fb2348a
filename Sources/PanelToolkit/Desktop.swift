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
        let context = unsafe Widget(adopting: gdk_display_get_app_launch_context(display))
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
        var value = GValue()
        // The value is G_TYPE_BOOLEAN, which is a macro that Swift cannot import.
        unsafe g_value_init(&value, GType(5 << 2))
        defer { unsafe g_value_unset(&value) }
        unsafe g_object_get_property(Widget(settings).cast(), "gtk-enable-animations", &value)
        return unsafe g_value_get_boolean(&value) != 0
    }

    /// The user's text size relative to the default, at least 1, measured by the height of a line.
    package static var textScale: Double { max(1, Double(Label("Ag", .cut(lines: 1)).naturalHeight()) / 17) }

    /// The largest scale factor of all monitors, at most 4 (`gdk_monitor_get_scale_factor`).
    package static var scale: Int {
        guard let display = unsafe gdk_display_get_default() else { return 1 }
        let list = unsafe gdk_display_get_monitors(display)
        let scales = (0..<(unsafe g_list_model_get_n_items(list))).map { index in
            let monitor = unsafe Widget(adopting: OpaquePointer(g_list_model_get_item(list, index)))
            return unsafe Int(gdk_monitor_get_scale_factor(monitor.address))
        }
        return min(max(scales.max() ?? 1, 1), 4)
    }

    /// The size of the monitor with the pointer; nil if the display or its monitors are unknown.
    package static var monitorSize: (width: Int, height: Int)? {
        guard let display = unsafe gdk_display_get_default() else { return nil }
        let monitor = unsafe X11Screen(display)?.monitorOfPointer ?? monitors.first
        return monitor.map { ($0.width, $0.height) }
    }

    /// Centers a window on the monitor with the pointer and keeps it above other windows.
    ///
    /// This works only on X11. Wayland compositors place windows themselves, and center new ones.
    package static func centre(_ window: Widget) {
        guard let display = unsafe gdk_display_get_default(), let screen = unsafe X11Screen(display),
            let monitor = screen.monitorOfPointer
        else { return }
        screen.centre(window, on: monitor)
    }

    /// The codes of all pressed keys, including those that other windows receive.
    ///
    /// The set is empty on Wayland: a compositor does not report keys that were pressed earlier, and GTK does not
    /// repeat them.
    package static var keysDown: Set<UInt32> {
        guard let display = unsafe gdk_display_get_default(), let screen = unsafe X11Screen(display) else { return [] }
        return screen.keysDown
    }

    fileprivate static var monitors: [Monitor] {
        guard let display = unsafe gdk_display_get_default() else { return [] }
        let list = unsafe gdk_display_get_monitors(display)
        return (0..<(unsafe g_list_model_get_n_items(list))).map { index in
            var area = GdkRectangle()
            let monitor = unsafe Widget(adopting: OpaquePointer(g_list_model_get_item(list, index)))
            unsafe gdk_monitor_get_geometry(monitor.address, &area)
            return Monitor(x: Int(area.x), y: Int(area.y), width: Int(area.width), height: Int(area.height))
        }
    }

    /// The area of a monitor, in the same units as window sizes.
    fileprivate struct Monitor {
        var x: Int
        var y: Int
        var width: Int
        var height: Int

        func contains(_ point: (x: Int, y: Int)) -> Bool {
            (x..<x + width).contains(point.x) && (y..<y + height).contains(point.y)
        }
    }
}

/// Functions of X11 that GTK lacks: the pointer's position and the placement of windows.
@safe
private struct X11Screen {
    private let display: OpaquePointer
    private let root: Window
    private let scale: Int

    /// Returns nil if the display is not an X11 display.
    init?(_ gdkDisplay: OpaquePointer) {
        let instance = unsafe UnsafeMutablePointer<GTypeInstance>(gdkDisplay)
        guard unsafe g_type_check_instance_is_a(instance, gdk_x11_display_get_type()) != 0,
            let display = unsafe gdk_x11_display_get_xdisplay(gdkDisplay)
        else { return nil }
        unsafe self.display = display
        root = unsafe XDefaultRootWindow(display)
        let monitor = unsafe gdk_x11_display_get_primary_monitor(gdkDisplay)
        scale = unsafe monitor.map { unsafe Int(gdk_monitor_get_scale_factor($0)) } ?? 1
    }

    /// The monitor with the pointer; the first monitor if no monitor contains the pointer.
    var monitorOfPointer: Desktop.Monitor? {
        let monitors = self.monitors
        let pointer = pointer ?? (0, 0)
        return monitors.first { $0.contains(pointer) } ?? monitors.first
    }

    /// The monitors from `XRRGetMonitors`; if the user splits a monitor into parts, GTK reports only the first part.
    private var monitors: [Desktop.Monitor] {
        var count: Int32 = 0
        guard let list = unsafe XRRGetMonitors(display, root, 1, &count) else { return Desktop.monitors }
        defer { unsafe XRRFreeMonitors(list) }
        let monitors = unsafe UnsafeBufferPointer(start: list, count: Int(max(count, 0))).map { monitor in
            unsafe Desktop.Monitor(
                x: Int(monitor.x) / scale, y: Int(monitor.y) / scale, width: Int(monitor.width) / scale,
                height: Int(monitor.height) / scale)
        }
        return monitors.isEmpty ? Desktop.monitors : monitors
    }

    /// The pointer's position (`XQueryPointer`).
    private var pointer: (x: Int, y: Int)? {
        var windows: (Window, Window) = (0, 0)
        var points: (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        var mask: UInt32 = 0
        let found = unsafe XQueryPointer(
            display, root, &windows.0, &windows.1, &points.0, &points.1, &points.2, &points.3, &mask)
        return found == 0 ? nil : (Int(points.0) / scale, Int(points.1) / scale)
    }

    /// The codes of all pressed keys (`XQueryKeymap`, which returns one bit per code).
    var keysDown: Set<UInt32> {
        var bits = [CChar](repeating: 0, count: 32)
        unsafe _ = XQueryKeymap(display, &bits)
        let codes: Range<UInt32> = 0..<256
        return Set(
            codes.filter { code in
                let byte = UInt8(bitPattern: bits[Int(code / 8)])
                return byte & (1 << UInt8(code % 8)) != 0
            })
    }

    /// Moves the window with `XMoveWindow` and asks the window manager for `_NET_WM_STATE_ABOVE`.
    func centre(_ window: Widget, on monitor: Desktop.Monitor) {
        guard let surface = unsafe gtk_native_get_surface(window.address) else { return }
        let number = unsafe gdk_x11_surface_get_xid(surface)
        let width = unsafe Int(gdk_surface_get_width(surface))
        let height = unsafe Int(gdk_surface_get_height(surface))
        let x = (monitor.x + (monitor.width - width) / 2) * scale
        let y = (monitor.y + (monitor.height - height) / 2) * scale
        unsafe XMoveWindow(display, number, Int32(clamping: x), Int32(clamping: y))
        keepAbove(number)
        unsafe XFlush(display)
    }

    private func keepAbove(_ number: Window) {
        var event = unsafe XEvent()
        unsafe event.xclient.type = ClientMessage
        unsafe event.xclient.window = number
        unsafe event.xclient.message_type = XInternAtom(display, "_NET_WM_STATE", 0)
        unsafe event.xclient.format = 32
        // 1 adds the state. The last field says that the request comes from an application.
        unsafe event.xclient.data.l.0 = 1
        unsafe event.xclient.data.l.1 = Int(bitPattern: XInternAtom(display, "_NET_WM_STATE_ABOVE", 0))
        unsafe event.xclient.data.l.3 = 1
        unsafe XSendEvent(display, root, 0, Int(SubstructureNotifyMask | SubstructureRedirectMask), &event)
    }
}
