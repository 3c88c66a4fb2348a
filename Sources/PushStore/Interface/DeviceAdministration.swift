// SPDX-License-Identifier: Apache-2.0

/// A request of an administrator about one device; refused with `unknownDevice` if the device does not exist.
package enum DeviceAdministration: Sendable {
    /// Describes the device; answered by `device`.
    case describe
    /// Gives the device another name; answered by `done`.
    case rename(String)
    /// Removes the device; answered by `done`.
    case remove
    /// Expires all registrations of the device, as the store does automatically for a device that was unseen too long.
    case expire
}
