// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A search entry with a magnifier and a clear button (`GtkSearchEntry`).
package final class SearchEntry: Editable {
    /// Creates an entry with `gtk_search_entry_new`; the placeholder is also its accessible name.
    package init(placeholder: String) {
        unsafe super.init(gtk_search_entry_new())
        setProperty("placeholder-text", placeholder)
        named(placeholder)
    }

    /// Redirects text typed in a widget to the entry (`gtk_search_entry_set_key_capture_widget`); nil ends this.
    package func captureTyping(in widget: Widget?) {
        unsafe gtk_search_entry_set_key_capture_widget(address, widget?.cast())
    }

    /// Calls the body when the user pauses after a change of the text.
    package func onSearchChanged(_ body: @escaping () -> Void) { Signals.connect(self, "search-changed", body) }

    /// Calls the body when the user presses Escape in the entry.
    package func onStop(_ body: @escaping () -> Void) { Signals.connect(self, "stop-search", body) }
}
