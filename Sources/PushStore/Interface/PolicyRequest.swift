// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// What is asked of the store about policies; answered by `policy`, with what holds afterwards.
package enum PolicyRequest: Sendable {
    /// All rules.
    case all
    /// The rules for the device of a secret.
    case ofDevice(secretHash: [UInt8])
    /// Sets a rule, in the place of what was there.
    case set(Place, value: String, isLocked: Bool)
    /// Removes a rule.
    case remove(Place)

    /// What a rule is about.
    package struct Place: Sendable, Equatable {
        /// Nil for every device.
        package var device: DeviceID?
        /// Nil for every app, and for what belongs to no app.
        package var topic: String?
        /// What is set.
        package var setting: PersonalSetting

        /// Joins the parts.
        package init(device: DeviceID?, topic: String?, setting: PersonalSetting) {
            self.device = device
            self.topic = topic
            self.setting = setting
        }
    }
}
