// SPDX-License-Identifier: Apache-2.0

public import PushCore

/// An administrator's rule for devices: a default value, or a locked value that users cannot change.
public struct PolicyRule: Codable, Sendable, Equatable {
    /// The device ID that the rule applies to; nil for every device.
    public var device: String?
    /// The topic of the app that the rule applies to.
    ///
    /// nil means every app. A rule for a setting of the user also has nil here.
    public var topic: TopicName?
    /// The name of a setting; docs/reference/settings.md lists the settings.
    public var setting: String
    /// The value of the setting.
    public var value: String
    /// Whether the user cannot change the value.
    public var locked: Bool

    public init(device: String?, topic: TopicName?, setting: String, value: String, locked: Bool) {
        self.device = device
        self.topic = topic
        self.setting = setting
        self.value = value
        self.locked = locked
    }
}

extension Setting {
    /// Returns the setting that a policy names.
    ///
    /// The result is nil for an unknown setting, and when a topic is given but the setting does not belong to apps.
    package static func ofPolicy(_ name: String, hasTopic: Bool) -> Setting? {
        let setting = allCases.first { $0.rawValue.utf8.elementsEqual(name.utf8) }
        return setting.flatMap { hasTopic && !$0.scopes.contains(.app) ? nil : $0 }
    }

    /// The scope that is used to validate the setting's values in a policy.
    package var policyScope: Scope { scopes.contains(.app) ? .app : .device }
}

extension DeviceAPI {
    /// The response of `GET /v1/policy`.
    public struct Policy: Codable, Sendable, Equatable {
        /// The version, which grows with each change of any policy on the server.
        public var version: Int64
        /// The rules for the requesting device, at most one for each setting and topic.
        public var rules: [PolicyRule]

        public init(version: Int64, rules: [PolicyRule]) {
            self.version = version
            self.rules = rules
        }
    }
}

extension AdminAPI {
    /// The response of `GET /v1/policies`.
    public struct Policies: Codable, Sendable, Equatable {
        /// The version, which grows with each change.
        public var version: Int64
        public var rules: [PolicyRule]

        public init(version: Int64, rules: [PolicyRule]) {
            self.version = version
            self.rules = rules
        }
    }
}
