// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Executes the requests about policy rules.
final class PolicyExecutor {
    private let policies: PolicyTable
    private let state: StateTable
    private let topics: TopicTable
    private let transaction: StoreTransaction
    private let authentication: DeviceAuthentication

    init(_ tables: SharedTables, _ transaction: StoreTransaction, _ authentication: DeviceAuthentication) {
        policies = tables.policies
        state = tables.state
        topics = tables.topics
        self.transaction = transaction
        self.authentication = authentication
    }

    func execute(_ request: PolicyRequest) throws(SQLError) -> RequestResult {
        switch request {
        case .all: break
        case .set(let key, let value, let isLocked):
            if let refusal = try refusal(of: key) { return .failure(refusal) }
            guard try policies.count() < Limits.policyRuleCountMax else { return .failure(.tooMany) }
            try policies.set(key, value, isLocked: isLocked)
            try noteChange()
        case .remove(let key):
            guard try policies.remove(key) else { return .failure(.unknownPolicy) }
            try noteChange()
        }
        return .unfinished(PolicyListing(policies, state, for: nil))
    }

    /// Returns the rules for a device.
    func rules(for device: DeviceID) -> RequestResult { .unfinished(PolicyListing(policies, state, for: device)) }

    /// Removes the rules of a removed app.
    func removeAll(topic: TopicName) throws(SQLError) {
        if try policies.removeAll(topic: topic) { try noteChange() }
    }

    /// Increments the policy version, of which devices are then notified.
    private func noteChange() throws(SQLError) {
        try state.setPolicyVersion(try state.policyVersion() + 1)
        transaction.noteDirectoryChange()
    }

    /// Returns a refusal for an unknown topic or device, so that a misspelled name does not create a rule without
    /// effect.
    private func refusal(of key: PolicyRequest.RuleKey) throws(SQLError) -> StoreRefusal? {
        if let topic = key.topic, try topics.find(topic) == nil { return .unknownTopic }
        if let device = key.device, try !authentication.isLive(device) { return .unknownDevice }
        return nil
    }
}

/// The list of all policy rules, or of those for one device: first its own, then those for all devices.
///
/// A change of the rules restarts the list, so that all rules belong to the same version.
private final class PolicyListing: LongWork {
    private let policies: PolicyTable
    private let state: StateTable
    private let device: DeviceID?
    private var rules: [PolicyTable.Rule] = []
    /// The number of the device's own rules; nil while they are being read.
    private var ownCount: Int?
    private var last: PolicyTable.Rule?
    private var version: Int64?

    init(_ policies: PolicyTable, _ state: StateTable, for device: DeviceID?) {
        self.policies = policies
        self.state = state
        self.device = device
    }

    func step() throws(SQLError) -> RequestResult {
        let now = try state.policyVersion()
        if let version, version != now { restart() }
        version = now
        let countMax = WriterLimits.rowsListedPerStepCountMax
        guard let device else {
            let found = try policies.rules(after: last, countMax: countMax)
            return take(found, isEnd: found.count < countMax, now)
        }
        let found = try policies.rules(
            for: device, isOwn: ownCount == nil, after: last, countMax: countMax)
        if found.count < countMax, ownCount == nil {
            rules += found
            (ownCount, last) = (rules.count, nil)
            return .unfinished(self)
        }
        return take(found, isEnd: found.count < countMax, now)
    }

    private func take(_ found: [PolicyTable.Rule], isEnd: Bool, _ version: Int64) -> RequestResult {
        rules += found
        last = found.last
        guard isEnd else { return .unfinished(self) }
        return .success(.policy(merged().map(\.rule), version: version))
    }

    /// Merges both parts, each of which is sorted by topic and setting.
    private func merged() -> [PolicyTable.Rule] {
        guard let ownCount else { return rules }
        var (own, general) = (rules[..<ownCount], rules[ownCount...])
        var all: [PolicyTable.Rule] = []
        all.reserveCapacity(rules.count)
        while let first = own.first, let second = general.first {
            if first.isBefore(second) {
                all.append(own.removeFirst())
            } else {
                all.append(general.removeFirst())
            }
        }
        return all + own + general
    }

    func restart() {
        rules = []
        (ownCount, last, version) = (nil, nil, nil)
    }
}
