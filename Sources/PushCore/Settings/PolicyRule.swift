// SPDX-License-Identifier: Apache-2.0

/// What an administrator set for devices: a default, or a value that nobody changes there.
public struct PolicyRule: Codable, Sendable, Equatable {
    /// Whose: a device id; nil for every device.
    public var device: String?
    /// Of which app: its topic; nil for every app, and for what belongs to no app.
    public var topic: String?
    /// The name of a setting; docs/reference/settings.md lists them.
    public var setting: String
    /// What holds.
    public var value: String
    /// Whether the person may not choose otherwise.
    public var locked: Bool

    /// Joins the parts.
    public init(device: String?, topic: String?, setting: String, value: String, locked: Bool) {
        self.device = device
        self.topic = topic
        self.setting = setting
        self.value = value
        self.locked = locked
    }
}

extension PersonalSetting {
    /// The setting that a policy names; nil when there is none, or none that an app has where one is named.
    package static func ofPolicy(_ name: String, hasTopic: Bool) -> PersonalSetting? {
        let setting = allCases.first { $0.rawValue.utf8.elementsEqual(name.utf8) }
        return setting.flatMap { hasTopic && !$0.scopes.contains(.app) ? nil : $0 }
    }

    /// What its values are checked for in a policy.
    package var policyScope: Scope { scopes.contains(.app) ? .app : .person }
}

extension DeviceAPI {
    /// The answer of `GET /v1/policy`.
    public struct Policy: Codable, Sendable, Equatable {
        /// Grows with each change of any policy of the server.
        public var version: Int64
        /// The rules for the device that asks; of the same setting and topic only one.
        public var rules: [PolicyRule]

        /// Joins the two.
        public init(version: Int64, rules: [PolicyRule]) {
            self.version = version
            self.rules = rules
        }
    }
}

extension AdminAPI {
    /// The answer of `GET /v1/policies`.
    public struct Policies: Codable, Sendable, Equatable {
        /// Grows with each change.
        public var version: Int64
        /// All rules.
        public var rules: [PolicyRule]

        /// Joins the two.
        public init(version: Int64, rules: [PolicyRule]) {
            self.version = version
            self.rules = rules
        }
    }
}
