// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// What the panel asks of the desktop around its windows.
enum Desktop {
    /// A token by which an app that is started now may come to the front (`g_app_launch_context_get_startup_notify_id`).
    ///
    /// - Returns: Empty where the desktop gives none.
    static func activationToken() -> String {
        guard let display = unsafe gdk_display_get_default() else { return "" }
        let context = unsafe Widget.adopting(gdk_display_get_app_launch_context(display))
        // It is asked for an app, whose name a desktop may show meanwhile.
        let flags = GAppInfoCreateFlags(rawValue: 0)
        guard let info = unsafe g_app_info_create_from_commandline("true", "Posthorn", flags, nil) else { return "" }
        defer { unsafe g_object_unref(UnsafeMutableRawPointer(info)) }
        guard let token = unsafe g_app_launch_context_get_startup_notify_id(context.cast(), info, nil) else {
            return ""
        }
        defer { unsafe g_free(token) }
        return unsafe String(cString: token)
    }

    /// Whether things may move on the screen (`gtk-enable-animations`).
    static var allowsMotion: Bool {
        guard let settings = unsafe gtk_settings_get_default() else { return false }
        var value = GValue()
        // G_TYPE_BOOLEAN, a macro.
        unsafe g_value_init(&value, GType(5 << 2))
        defer { unsafe g_value_unset(&value) }
        unsafe g_object_get_property(Widget(settings).cast(), "gtk-enable-animations", &value)
        return unsafe g_value_get_boolean(&value) != 0
    }

    /// How large the person wants text, beside the usual: the height of a line.
    static var textScale: Double { max(1, Double(Widget.label("Ag", .cut(lines: 1)).naturalHeight) / 17) }

    /// How many points of the screen a pixel is wide, where they are finest (`gdk_monitor_get_scale_factor`).
    static var scale: Int {
        guard let display = unsafe gdk_display_get_default() else { return 1 }
        let list = unsafe gdk_display_get_monitors(display)
        let scales = (0..<(unsafe g_list_model_get_n_items(list))).map { index in
            let monitor = unsafe Widget.adopting(OpaquePointer(g_list_model_get_item(list, index)))
            return unsafe Int(gdk_monitor_get_scale_factor(monitor.address))
        }
        return min(max(scales.max() ?? 1, 1), 4)
    }

    /// The size of the monitor at which the person is; nil where the desktop does not tell.
    static var monitorSize: (width: Int, height: Int)? {
        guard let display = unsafe gdk_display_get_default() else { return nil }
        let monitor = unsafe X11Screen(display)?.monitorOfPointer ?? monitors.first
        return monitor.map { ($0.width, $0.height) }
    }

    /// Puts a window on the middle of the monitor at which the person is, and above others.
    ///
    /// X11 only: Wayland's compositors place windows themselves, and put a new one in the middle.
    static func centre(_ window: Widget) {
        guard let display = unsafe gdk_display_get_default(), let screen = unsafe X11Screen(display),
            let monitor = screen.monitorOfPointer
        else { return }
        screen.centre(window, on: monitor)
    }

    /// The codes of the keys that are down, whoever gets them.
    ///
    /// X11 only: Wayland's compositors tell no window of a key that was down before, and GTK repeats none there.
    static var keysDown: Set<UInt32> {
        guard let display = unsafe gdk_display_get_default(), let screen = unsafe X11Screen(display) else { return [] }
        return screen.keysDown
    }

    /// The monitors that GTK knows.
    fileprivate static var monitors: [Monitor] {
        guard let display = unsafe gdk_display_get_default() else { return [] }
        let list = unsafe gdk_display_get_monitors(display)
        return (0..<(unsafe g_list_model_get_n_items(list))).map { index in
            var area = GdkRectangle()
            let monitor = unsafe Widget.adopting(OpaquePointer(g_list_model_get_item(list, index)))
            unsafe gdk_monitor_get_geometry(monitor.address, &area)
            return Monitor(x: Int(area.x), y: Int(area.y), width: Int(area.width), height: Int(area.height))
        }
    }

    /// A monitor's place, in the units of windows.
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

/// What X11 has and GTK does not: where the pointer is, and where a window goes.
@safe
private struct X11Screen {
    private let display: OpaquePointer
    private let root: Window
    private let scale: Int

    /// Nil on any other display.
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

    /// The monitor on which the pointer is; where there is none, the first.
    var monitorOfPointer: Desktop.Monitor? {
        let monitors = self.monitors
        let pointer = pointer ?? (0, 0)
        return monitors.first { $0.contains(pointer) } ?? monitors.first
    }

    /// `XRRGetMonitors`: GTK leaves out the parts into which people divide a wide one, all but the first.
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

    /// `XQueryPointer`.
    private var pointer: (x: Int, y: Int)? {
        var windows: (Window, Window) = (0, 0)
        var points: (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        var mask: UInt32 = 0
        let found = unsafe XQueryPointer(
            display, root, &windows.0, &windows.1, &points.0, &points.1, &points.2, &points.3, &mask)
        return found == 0 ? nil : (Int(points.0) / scale, Int(points.1) / scale)
    }

    /// `XQueryKeymap`: a bit for each code.
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

    /// `XMoveWindow`, and `_NET_WM_STATE_ABOVE` for window managers.
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
        // 1 adds the state; the last says that an application asks.
        unsafe event.xclient.data.l.0 = 1
        unsafe event.xclient.data.l.1 = Int(bitPattern: XInternAtom(display, "_NET_WM_STATE_ABOVE", 0))
        unsafe event.xclient.data.l.3 = 1
        unsafe XSendEvent(display, root, 0, Int(SubstructureNotifyMask | SubstructureRedirectMask), &event)
    }
}
