// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A spinning activity indicator (`GtkSpinner`).
package final class Spinner: Widget {
    /// Creates an indicator that spins while it is on the screen.
    ///
    /// A started spinner draws frames even in a hidden child of a `GtkStack`, so it is started only while it is mapped.
    package init() {
        unsafe super.init(gtk_spinner_new())
        // The handlers live as long as the widget, and this wrapper may end before.
        let spinner = unsafe address
        Signals.connect(self, "map") { unsafe gtk_spinner_start(spinner) }
        Signals.connect(self, "unmap") { unsafe gtk_spinner_stop(spinner) }
    }
}
