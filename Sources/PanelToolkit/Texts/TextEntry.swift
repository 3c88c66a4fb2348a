// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// An entry of one line (`GtkEntry`).
package final class TextEntry: Editable {
    /// Creates an entry with `gtk_entry_new`; the placeholder is also its accessible name.
    package init(placeholder: String) {
        unsafe super.init(gtk_entry_new())
        unsafe gtk_entry_set_placeholder_text(cast(), placeholder)
        named(placeholder)
    }

    /// Lets Return in the entry press the window's default button (`gtk_entry_set_activates_default`).
    package func activatesDefault() { unsafe gtk_entry_set_activates_default(cast(), 1) }

    /// Makes the entry wide enough for a number of characters, if there is space (`gtk_editable_set_max_width_chars`).
    package func fits(characterCount: Int) { unsafe gtk_editable_set_max_width_chars(address, Int32(characterCount)) }

    /// Calls the body after each change of the text.
    package func onChanged(_ body: @escaping () -> Void) { Signals.connect(self, "changed", body) }

    /// Calls the body when the user presses Return.
    package func onReturn(_ body: @escaping () -> Void) { Signals.connect(self, "activate", body) }
}
