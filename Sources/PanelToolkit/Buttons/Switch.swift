// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A switch (`GtkSwitch`).
package final class Switch: Widget {
    /// Creates a switch that is off.
    package init() {
        unsafe super.init(gtk_switch_new())
        aligned(down: .center)
    }

    /// Whether the switch is on (`gtk_switch_set_active`).
    package var isOn: Bool {
        get { unsafe gtk_switch_get_active(address) != 0 }
        set { unsafe gtk_switch_set_active(address, newValue ? 1 : 0) }
    }

    /// Calls the body after each change, also one by the program.
    package func onChanged(_ body: @escaping () -> Void) { Signals.connectProperty(self, "active", body) }
}
