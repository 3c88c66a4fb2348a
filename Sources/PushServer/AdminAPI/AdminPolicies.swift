// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushServing
internal import PushStore

/// `/v1/policies` and `/v1/policies/{device}/{topic}/{setting}`: the settings that administrators choose for devices.
///
/// A policy applies until the user makes another choice, or regardless of it if the policy is locked. `*` stands for
/// every device or every app.
struct AdminPolicies: AdminResource {
    let services: LoopServices

    private static let every = "*"
    private static let rule = AdminBody(members: [
        AdminBody.Member(name: "value", kind: .text, isRequired: true), AdminBody.Member(name: "locked", kind: .flag),
    ])

    private struct NewRule: Decodable {
        var value: String
        var locked: Bool?
    }

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        switch (exchange.method, rest.count) {
        case (.get, 0): perform(.control(.policy(.all)), exchange, connection, Self.send)
        case (_, 0): AdminAnswer.refuseMethod(exchange, allowed: "GET")
        case (.put, 3), (.delete, 3):
            guard let key = Self.key(rest, exchange) else { return }
            if exchange.method == .delete {
                return perform(.control(.policy(.remove(key))), exchange, connection, Self.send)
            }
            setPolicy(exchange, connection, key)
        case (_, 3): AdminAnswer.refuseMethod(exchange, allowed: "PUT, DELETE")
        default: AdminAnswer.refusePath(exchange)
        }
    }

    private func setPolicy(_ exchange: HTTPExchange, _ connection: ServerConnection, _ key: PolicyRequest.RuleKey) {
        guard let new = Self.rule.read(NewRule.self, of: exchange) else { return }
        let scope = key.setting.policyScope
        guard let value = key.setting.normalized(new.value, for: scope) else {
            return ControlAnswer.refuse(
                exchange, status: 400, "BadValue",
                "Invalid value for \(key.setting.rawValue): use \(key.setting.expectation(for: scope)).")
        }
        let request = PolicyRequest.set(key, value: value, isLocked: new.locked ?? false)
        perform(.control(.policy(request)), exchange, connection, Self.send)
    }

    private static func send(_ answer: StoreAnswer, _ exchange: HTTPExchange) {
        guard case .policy(let rules, let version) = answer else { return }
        ControlAnswer.send(exchange, AdminAPI.Policies(version: version, rules: rules))
    }

    /// Returns the key that a path names, or answers the request if the path is invalid.
    private static func key(_ words: [String], _ exchange: HTTPExchange) -> PolicyRequest.RuleKey? {
        let topic = words[1] == every ? nil : TopicName(words[1])
        guard let setting = Setting.ofPolicy(words[2], hasTopic: topic != nil) else {
            let names = Setting.allCases.filter { topic == nil || $0.scopes.contains(.app) }.map(\.rawValue)
            ControlAnswer.refuse(
                exchange, status: 400, "UnknownSetting",
                "Unknown setting\(topic == nil ? "" : " of an app"): use one of these: \(names.joined(separator: ", "))."
            )
            return nil
        }
        guard words[0] != every else { return PolicyRequest.RuleKey(device: nil, topic: topic, setting: setting) }
        guard let device = DeviceID(text: words[0]) else {
            ControlAnswer.refuse(exchange, .unknownDevice)
            return nil
        }
        return PolicyRequest.RuleKey(device: device, topic: topic, setting: setting)
    }
}
