// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// An empty area that reports its size (`GtkDrawingArea`).
package final class SizeProbe: Widget {
    /// Creates an area; `changed` is called with each new size in pixels.
    package init(_ changed: @escaping (_ width: Int, _ height: Int) -> Void) {
        unsafe super.init(gtk_drawing_area_new())
        Signals.connectSize(self, "resize", changed)
    }
}
