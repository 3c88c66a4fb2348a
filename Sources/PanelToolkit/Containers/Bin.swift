// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A container of one widget (`AdwBin`).
package final class Bin: Widget {
    /// Creates an empty container.
    package init() { unsafe super.init(adw_bin_new()) }

    /// Replaces the child with `adw_bin_set_child`.
    package func setContent(_ child: Widget?) { unsafe adw_bin_set_child(cast(), child?.cast()) }
}
