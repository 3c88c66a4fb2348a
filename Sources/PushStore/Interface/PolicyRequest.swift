// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushCore

/// A request about policy rules; answered by `policy` with the rules after the request.
package enum PolicyRequest: Sendable {
    /// Returns all rules.
    case all
    /// Sets a rule, replacing an earlier rule with the same key.
    case set(RuleKey, value: String, isLocked: Bool)
    /// Removes a rule.
    case remove(RuleKey)

    /// The key of a rule: device, app and setting.
    package struct RuleKey: Sendable, Equatable {
        /// The device; nil for every device.
        package var device: DeviceID?
        /// The topic; nil for every app, and for settings that belong to no app.
        package var topic: TopicName?
        package var setting: Setting

        package init(device: DeviceID?, topic: TopicName?, setting: Setting) {
            self.device = device
            self.topic = topic
            self.setting = setting
        }
    }
}
