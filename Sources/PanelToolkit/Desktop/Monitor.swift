// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// The area of a monitor, in the same units as window sizes.
struct Monitor {
    var x: Int
    var y: Int
    var width: Int
    var height: Int
    /// The number of device pixels per pixel (`gdk_monitor_get_scale_factor`).
    var scale: Int

    func contains(_ point: (x: Int, y: Int)) -> Bool {
        (x..<x + width).contains(point.x) && (y..<y + height).contains(point.y)
    }

    /// The monitors of the display, as GTK reports them (`gdk_display_get_monitors`).
    static var all: [Monitor] {
        guard let display = unsafe gdk_display_get_default() else { return [] }
        let list = unsafe gdk_display_get_monitors(display)
        return (0..<(unsafe g_list_model_get_n_items(list))).map { index in
            var area = GdkRectangle()
            let monitor = unsafe NativeObject(adopting: OpaquePointer(g_list_model_get_item(list, index)))
            unsafe gdk_monitor_get_geometry(monitor.address, &area)
            return Monitor(
                x: Int(area.x), y: Int(area.y), width: Int(area.width), height: Int(area.height),
                scale: unsafe Int(gdk_monitor_get_scale_factor(monitor.address)))
        }
    }
}
