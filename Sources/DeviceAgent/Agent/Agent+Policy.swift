// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushSQLite

/// What the server's administrator sets for this device.
extension Agent {
    /// So long at most is waited, at random, before the server is asked: all devices hear of a change at once.
    static let policyDelayMax: Duration = .seconds(2)

    /// Asks for the policies when they are not those that are here.
    package func streamTold(policyVersion: Int64) {
        do {
            guard try database.facts.value(of: .policyVersion) ?? 0 != policyVersion else { return }
        } catch {
            return databaseFailed(error)
        }
        guard !isPolicyDue else { return }
        isPolicyDue = true
        let delayMilliseconds = Int64.random(in: 0...Self.policyDelayMax.components.seconds * 1000)
        loop.schedule(after: .milliseconds(delayMilliseconds)) { [weak self] in self?.fetchPolicy() }
    }

    private func fetchPolicy() {
        isPolicyDue = false
        link?.session.client.policy { [weak self] result in
            switch result {
            case .success(let policy): self?.adopt(policy)
            // It is asked again when the stream opens the next time.
            case .failure(let error): agentLog.warning("policy_not_fetched", ["error": error.message])
            }
        }
    }

    private func adopt(_ policy: DeviceAPI.Policy) {
        do {
            try adopt(policy.rules.compactMap(PolicyTable.Rule.init), version: policy.version)
        } catch {
            return databaseFailed(error)
        }
        agentLog.info("policy_changed", ["version": "\(policy.version)", "rules": "\(policy.rules.count)"])
        try? settingsChanged(appID: "")
    }

    /// Puts rules in the place of those that were here.
    func adopt(_ rules: [PolicyTable.Rule], version: Int64) throws(SQLiteError) {
        try database.transaction { () throws(SQLiteError) in
            let refused = try database.refusedTopics()
            try database.policy.replaceAll(rules)
            try database.facts.set(.policyVersion, to: version)
            if try database.refusedTopics() != refused { try database.facts.set(.isFilterDue, to: 1) }
        }
    }
}

extension PolicyTable.Rule {
    /// A rule that a server sent; nil for one that this agent does not know, or whose value it does not.
    fileprivate init?(_ rule: PolicyRule) {
        guard let setting = PersonalSetting.ofPolicy(rule.setting, hasTopic: rule.topic != nil),
            let value = setting.normalized(rule.value, for: setting.policyScope)
        else { return nil }
        self.init(topic: rule.topic ?? "", setting: setting, value: value, isLocked: rule.locked)
    }
}
