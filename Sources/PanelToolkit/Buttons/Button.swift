// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A button (`GtkButton`).
package class Button: Widget {
    /// Creates a button of a subclass of `GtkButton`, without a child.
    init(button: UnsafeMutablePointer<GtkWidget>?) { unsafe super.init(button) }

    /// Creates a button of a subclass of `GtkButton` with a role, as `make` does.
    init(object: UnsafeMutablePointer<GObject>?) { unsafe super.init(object) }

    /// Creates a button with a label that is truncated when it is too long.
    package init(_ title: String, _ pressed: (() -> Void)? = nil) {
        unsafe super.init(gtk_button_new())
        setTitle(title)
        if let pressed { onPressed(pressed) }
    }

    /// Creates a button around any widget.
    package init(around child: Widget, named name: String, _ pressed: (() -> Void)? = nil) {
        unsafe super.init(gtk_button_new())
        setChild(child)
        if let pressed { onPressed(pressed) }
        named(name)
    }

    /// Creates a button with an icon; its accessible name is also its tooltip.
    package convenience init(icon: String, named name: String, _ pressed: @escaping () -> Void) {
        self.init(around: Symbol(icon), named: name, pressed)
        styled("touch").hinted(name)
    }

    /// Changes the icon; its accessible name is also its tooltip.
    package func setIcon(_ icon: String, named name: String) {
        setChild(Symbol(icon))
        named(name).hinted(name)
    }

    /// Sets the label, which is also the accessible name.
    package func setTitle(_ title: String, _ fit: Label.Fit = .cut(lines: 1)) {
        setChild(Label(title, fit).centered())
        named(title)
    }

    /// Replaces the child with `gtk_button_set_child`.
    func setChild(_ child: Widget) { unsafe gtk_button_set_child(cast(), child.cast()) }

    /// Calls the body after each click.
    package func onPressed(_ body: @escaping () -> Void) { Signals.connect(self, "clicked", body) }
}
