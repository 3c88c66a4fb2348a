// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A check button without a label (`GtkCheckButton`).
package final class CheckButton: Widget {
    /// Creates a button that is not checked.
    package init() {
        unsafe super.init(gtk_check_button_new())
        aligned(down: .center)
    }

    /// Whether the button is checked (`gtk_check_button_set_active`).
    package var isChecked: Bool {
        get { unsafe gtk_check_button_get_active(cast()) != 0 }
        set { unsafe gtk_check_button_set_active(cast(), newValue ? 1 : 0) }
    }
}
