// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A vertical entry for an integer of two digits, which wraps around at both ends (`GtkSpinButton`).
package final class NumberEntry: Editable {
    /// Creates an entry with `gtk_spin_button_new_with_range`.
    package init(_ range: ClosedRange<Int>, step: Int) {
        let (first, last) = (Double(range.lowerBound), Double(range.upperBound))
        unsafe super.init(gtk_spin_button_new_with_range(first, last, Double(step)))
        unsafe gtk_orientable_set_orientation(address, GTK_ORIENTATION_VERTICAL)
        unsafe gtk_spin_button_set_wrap(address, 1)
        unsafe gtk_spin_button_set_numeric(address, 1)
        unsafe gtk_editable_set_width_chars(address, 2)
        Signals.connectAnswering(self, "output") { [weak self] in
            guard let self else { return false }
            text = "\(number < 10 ? "0" : "")\(number)"
            return true
        }
        aligned(down: .center)
    }

    /// The number in the entry (`gtk_spin_button_set_value`).
    package var number: Int {
        get { Int(unsafe gtk_spin_button_get_value_as_int(address)) }
        set {
            unsafe gtk_spin_button_set_value(address, Double(newValue))
            // Setting the same value would not update the text.
            unsafe gtk_spin_button_update(address)
        }
    }

    /// Calls the body after each change of the number.
    package func onChanged(_ body: @escaping () -> Void) { Signals.connect(self, "value-changed", body) }
}
