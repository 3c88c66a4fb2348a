// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQL

/// The policies that the server's administrator sets for this device.
final class PolicyService {
    /// The maximum random delay before the policies are fetched.
    ///
    /// All devices learn of a change at the same time; the delay spreads their requests.
    private static let delayMax: Duration = .seconds(2)

    private let loop: EventLoop
    private let database: AgentDatabase
    private let link: ServerLink
    private let failures: DatabaseFailures
    private let settings: SettingService
    /// Whether a fetch is scheduled.
    private var isFetchDue = false

    init(_ context: AgentContext, _ settings: SettingService) {
        loop = context.loop
        database = context.database
        link = context.link
        failures = context.failures
        self.settings = settings
    }

    /// Schedules a fetch of the policies when the server's version differs from the stored one.
    func serverAnnounced(version policyVersion: Int64) {
        do {
            guard try database.state.value(of: .policyVersion) ?? 0 != policyVersion else { return }
        } catch {
            return failures.report(error)
        }
        guard !isFetchDue else { return }
        isFetchDue = true
        let delayMilliseconds = Int64.random(in: 0...Self.delayMax.components.seconds * 1000)
        loop.schedule(after: .milliseconds(delayMilliseconds)) { [weak self] in self?.fetch() }
    }

    private func fetch() {
        isFetchDue = false
        guard let client = link.clients?.session.client else { return }
        loop.startTask { [weak self] in
            do throws(ServerFailure) {
                let policy = try await client.policy()
                self?.adopt(policy)
            } catch {
                // The next opening of the stream tries again.
                agentLog.warning("policy_not_fetched", ["error": error.message])
            }
        }
    }

    private func adopt(_ policy: DeviceAPI.Policy) {
        do {
            try adopt(policy.rules.compactMap(LocalPolicyTable.Rule.init), version: policy.version)
        } catch {
            return failures.report(error)
        }
        agentLog.info("policy_changed", ["version": "\(policy.version)", "rules": "\(policy.rules.count)"])
        try? settings.settingsChanged(appID: nil)
    }

    /// Replaces the stored rules.
    private func adopt(_ rules: [LocalPolicyTable.Rule], version: Int64) throws(SQLError) {
        try database.transaction { () throws(SQLError) in
            let refused = try database.refusedTopics()
            try database.policy.replaceAll(rules)
            try database.state.set(.policyVersion, to: version)
            if try database.refusedTopics() != refused { try database.state.set(.isFilterDue, to: 1) }
        }
    }
}

extension LocalPolicyTable.Rule {
    /// Creates a rule from the server's; nil if this agent does not know the setting or its value.
    fileprivate init?(_ rule: PolicyRule) {
        guard let setting = Setting.ofPolicy(rule.setting, hasTopic: rule.topic != nil),
            let value = setting.normalized(rule.value, for: setting.policyScope)
        else { return nil }
        self.init(topic: rule.topic, setting: setting, value: value, isLocked: rule.locked)
    }
}
