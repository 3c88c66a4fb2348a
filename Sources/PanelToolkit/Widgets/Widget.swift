// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A widget, with the operations that all widgets have.
package class Widget: NativeObject {
    /// Whether the widget is visible (`gtk_widget_set_visible`).
    package var isVisible: Bool {
        get { unsafe gtk_widget_get_visible(cast()) != 0 }
        set { unsafe gtk_widget_set_visible(cast(), newValue ? 1 : 0) }
    }

    /// Whether the widget reacts to input (`gtk_widget_set_sensitive`).
    package var isSensitive: Bool {
        get { unsafe gtk_widget_get_sensitive(cast()) != 0 }
        set { unsafe gtk_widget_set_sensitive(cast(), newValue ? 1 : 0) }
    }

    /// Whether the widget is on the screen (`gtk_widget_get_mapped`).
    package var isMapped: Bool { unsafe gtk_widget_get_mapped(cast()) != 0 }

    /// Sets the opacity from 0 to 1 with `gtk_widget_set_opacity`.
    package func setOpacity(_ opacity: Double) { unsafe gtk_widget_set_opacity(cast(), opacity) }

    /// Sets the tooltip (`gtk_widget_set_tooltip_text`).
    @discardableResult
    package func hinted(_ text: String) -> Self {
        unsafe gtk_widget_set_tooltip_text(cast(), ShownText.clean(text))
        return self
    }

    /// Adds CSS classes with `gtk_widget_add_css_class`.
    @discardableResult
    package func styled(_ classes: String...) -> Self {
        for name in classes { unsafe gtk_widget_add_css_class(cast(), name) }
        return self
    }

    /// Adds or removes a CSS class.
    package func setStyle(_ name: String, _ isOn: Bool) {
        if isOn {
            unsafe gtk_widget_add_css_class(cast(), name)
        } else {
            unsafe gtk_widget_remove_css_class(cast(), name)
        }
    }

    // MARK: Family

    /// The parent widget (`gtk_widget_get_parent`).
    package var parent: Widget? { unsafe gtk_widget_get_parent(cast()).map { unsafe Widget($0) } }

    /// The first child (`gtk_widget_get_first_child`).
    package var firstChild: Widget? { unsafe gtk_widget_get_first_child(cast()).map { unsafe Widget($0) } }

    /// The next child of the same parent (`gtk_widget_get_next_sibling`).
    var nextSibling: Widget? { unsafe gtk_widget_get_next_sibling(cast()).map { unsafe Widget($0) } }
}
