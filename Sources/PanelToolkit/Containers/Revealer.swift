// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A container whose child slides in and out (`GtkRevealer`).
package final class Revealer: Widget {
    /// The direction from which the child slides in.
    package enum Edge {
        case below, above, end

        fileprivate var transition: GtkRevealerTransitionType {
            switch self {
            case .below: GTK_REVEALER_TRANSITION_TYPE_SLIDE_UP
            case .above: GTK_REVEALER_TRANSITION_TYPE_SLIDE_DOWN
            case .end: GTK_REVEALER_TRANSITION_TYPE_SLIDE_LEFT
            }
        }
    }

    /// Creates a container with a hidden child.
    package init(_ child: Widget, from edge: Edge) {
        unsafe super.init(gtk_revealer_new())
        unsafe gtk_revealer_set_transition_type(address, edge.transition)
        unsafe gtk_revealer_set_child(address, child.cast())
    }

    /// Whether the child is shown (`gtk_revealer_set_reveal_child`).
    package var isRevealed: Bool {
        get { unsafe gtk_revealer_get_reveal_child(address) != 0 }
        set { unsafe gtk_revealer_set_reveal_child(address, newValue ? 1 : 0) }
    }

    /// Calls the body at the end of each animation.
    package func onRevealed(_ body: @escaping () -> Void) { Signals.connectProperty(self, "child-revealed", body) }
}
