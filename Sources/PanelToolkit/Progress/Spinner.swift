// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A spinning activity indicator (`GtkSpinner`).
package final class Spinner: Widget {
    /// Creates an indicator that spins.
    package init() {
        unsafe super.init(gtk_spinner_new())
        unsafe gtk_spinner_start(address)
    }
}
