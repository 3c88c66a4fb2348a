// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A widget in which the user edits a text (`GtkEditable`).
package class Editable: Widget {
    /// The text in the entry (`gtk_editable_get_text`).
    package var text: String {
        get { unsafe gtk_editable_get_text(address).map { unsafe String(cString: $0) } ?? "" }
        set { unsafe gtk_editable_set_text(address, newValue) }
    }
}
