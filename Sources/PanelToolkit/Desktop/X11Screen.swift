// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// Functions of X11 that GTK lacks: the pointer's position and the placement of windows.
@safe
struct X11Screen {
    private let display: OpaquePointer
    private let root: XID
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
    var monitorOfPointer: Monitor? {
        let monitors = self.monitors
        let pointer = pointer ?? (0, 0)
        return monitors.first { $0.contains(pointer) } ?? monitors.first
    }

    /// The monitors from `XRRGetMonitors`; if the user splits a monitor into parts, GTK reports only the first part.
    private var monitors: [Monitor] {
        var count: Int32 = 0
        guard let list = unsafe XRRGetMonitors(display, root, 1, &count) else { return Monitor.all }
        defer { unsafe XRRFreeMonitors(list) }
        let monitors = unsafe UnsafeBufferPointer(start: list, count: Int(max(count, 0))).map { monitor in
            unsafe Monitor(
                x: Int(monitor.x) / scale, y: Int(monitor.y) / scale, width: Int(monitor.width) / scale,
                height: Int(monitor.height) / scale, scale: scale)
        }
        return monitors.isEmpty ? Monitor.all : monitors
    }

    /// The pointer's position (`XQueryPointer`).
    private var pointer: (x: Int, y: Int)? {
        var windows: (XID, XID) = (0, 0)
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
    func center(_ window: Window, on monitor: Monitor) {
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

    private func keepAbove(_ number: XID) {
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
