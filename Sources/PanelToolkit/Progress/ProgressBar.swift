// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A progress bar (`GtkProgressBar`).
package final class ProgressBar: Widget {
    /// Creates an empty bar.
    package init() { unsafe super.init(gtk_progress_bar_new()) }

    /// Sets the progress from 0 to 1 with `gtk_progress_bar_set_fraction`.
    package func setFraction(_ fraction: Double) { unsafe gtk_progress_bar_set_fraction(address, fraction) }
}
